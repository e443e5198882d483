import type { JsonPath } from '../lib/json/json-pointer.js';
import { readSharedName, resolveReference, type SharedSchemas } from './shared-schemas.js';
import { isSchemaObject, listSubschemas } from './subschema-keywords.js';

type SchemaObject = Readonly<Record<string, unknown>>;

/** An edge from one schema object to another that it applies. */
interface SchemaEdge {
  readonly target: SchemaNode;
  /** The keyword that leads there: `$ref`, `properties`. */
  readonly keyword: string;
  /** `nothing`: applied only by a reference, as for `$defs`. */
  readonly appliesTo: 'same' | 'part' | 'nothing';
}

export interface SchemaNode {
  readonly schema: SchemaObject;
  /** The root of its own references. */
  readonly root: SchemaObject;
  readonly path: JsonPath;
  readonly edges: SchemaEdge[];
  /** The shared schema of its reference, which may be missing or outside of the graph. */
  readonly sharedName: string | null;
  /** Boolean schemas among its own subschemas: they count, but lead nowhere. */
  booleans: number;
}

/** Schemas as a graph. References are edges too, so it may have circles. */
export interface SchemaGraph {
  /** The nodes, in the order of the schemas. */
  readonly nodes: readonly SchemaNode[];
}

export interface SchemaRoot {
  readonly schema: SchemaObject;
  /** The start of the paths of its nodes. */
  readonly path: JsonPath;
}

/**
 * Ignores invalid schemas and broken references, which other rules report.
 * @param follows whether the graph continues in a shared schema that is not a root
 */
export function createSchemaGraph(
  roots: readonly SchemaRoot[],
  shared: SharedSchemas,
  follows: (schema: SchemaObject) => boolean,
): SchemaGraph {
  const nodes = new Map<object, SchemaNode>();
  const pending: SchemaNode[] = [];
  const enter = (schema: SchemaObject, root: SchemaObject, path: JsonPath): SchemaNode => {
    const existing = nodes.get(schema);
    if (existing !== undefined) return existing;
    const sharedName = readSharedName(schema['$ref']);
    const node: SchemaNode = { schema, root, path, edges: [], sharedName, booleans: 0 };
    nodes.set(schema, node);
    pending.push(node);
    return node;
  };
  const starts = new Map(roots.map(({ schema, path }) => [schema, path]));
  for (const { schema, path } of roots) enter(schema, schema, path);
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const { keyword, appliesTo, value, path } of listSubschemas(node.schema)) {
      if (typeof value === 'boolean') node.booleans += 1;
      if (!isSchemaObject(value)) continue;
      const target = enter(value, node.root, [...node.path, ...path]);
      node.edges.push({ target, keyword, appliesTo });
    }
    const referred = resolveReference({ root: node.root, shared }, node.schema['$ref']);
    const value = referred?.value;
    if (referred === null || !isSchemaObject(value)) continue;
    const isShared = node.sharedName !== null;
    if (isShared && !nodes.has(value) && !follows(value)) continue;
    const root = isShared ? value : node.root;
    const target = enter(value, root, [...(starts.get(root) ?? []), ...referred.path]);
    node.edges.push({ target, keyword: '$ref', appliesTo: 'same' });
  }
  return { nodes: [...nodes.values()] };
}

interface ExpansionStep {
  readonly do: 'count' | 'expand' | 'leave';
  readonly node: SchemaNode;
}

/**
 * The number of subschemas with each reference expanded once at its place, but not again within its
 * own expansion. Stops counting above `limit`. Shared schemas are not expanded.
 */
export function countExpanded(root: SchemaNode, limit: number): number {
  let count = 0;
  const expanding = new Set<SchemaNode>([root]);
  const stack: ExpansionStep[] = [{ do: 'count', node: root }];
  for (let next = stack.pop(); next !== undefined && count <= limit; next = stack.pop()) {
    const { node } = next;
    if (next.do === 'leave') expanding.delete(node);
    else if (next.do === 'expand') {
      if (expanding.has(node)) continue;
      expanding.add(node);
      stack.push({ do: 'leave', node }, { do: 'count', node });
    } else {
      count += 1 + node.booleans;
      for (const { target, keyword } of node.edges) {
        if (target.root !== root.root) continue;
        stack.push({ do: keyword === '$ref' ? 'expand' : 'count', node: target });
      }
    }
  }
  return count;
}

/**
 * The number of the circle that each node is part of, after Tarjan: nodes that reach one another have the
 * same number. A node outside of any circle is missing.
 */
export function findCircles(
  { nodes }: SchemaGraph,
  follows: (edge: SchemaEdge) => boolean,
): Map<SchemaNode, number> {
  const circles = new Map<SchemaNode, number>();
  const order = new Map<SchemaNode, number>();
  const lowest = new Map<SchemaNode, number>();
  const open: SchemaNode[] = [];
  const isOpen = new Set<SchemaNode>();
  const enter = (node: SchemaNode) => {
    lowest.set(node, order.size);
    order.set(node, order.size);
    open.push(node);
    isOpen.add(node);
    return { node, edges: node.edges.filter(follows), nextEdge: 0 };
  };
  const lower = (node: SchemaNode, to: number | undefined) => {
    lowest.set(node, Math.min(lowest.get(node) ?? 0, to ?? 0));
  };
  const leave = (node: SchemaNode) => {
    if (lowest.get(node) !== order.get(node)) return;
    const members = open.splice(open.lastIndexOf(node));
    for (const member of members) isOpen.delete(member);
    const isCircle =
      members.length > 1 || node.edges.some((edge) => edge.target === node && follows(edge));
    if (isCircle) for (const member of members) circles.set(member, order.get(node) ?? 0);
  };
  for (const start of nodes) {
    if (order.has(start)) continue;
    // Uses a separate stack, because a chain of references may exceed the call stack.
    const path = [enter(start)];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const target = step.edges[step.nextEdge]?.target;
      step.nextEdge += 1;
      if (target === undefined) {
        path.pop();
        leave(step.node);
        const parent = path.at(-1);
        if (parent !== undefined) lower(parent.node, lowest.get(step.node));
      } else if (!order.has(target)) path.push(enter(target));
      else if (isOpen.has(target)) lower(step.node, order.get(target));
    }
  }
  return circles;
}

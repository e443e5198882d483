import type * as Yaml from 'yaml';
import type { Alias, ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import {
  addEntry,
  copyString,
  createScalar,
  DocumentBudget,
  type SyntaxEntry,
  type SyntaxNode,
  SyntaxStop,
  type SyntaxViolation,
} from './syntax-tree.js';
import type { TextLimits } from './text-limits.js';
import { loadYaml } from './yaml-errors.js';

/** Nodes that aliases add: sufficient for shared blocks, but not for a billion laughs. */
const MAX_ALIASED_NODES = 10_000;

interface Build {
  readonly yaml: Pick<typeof Yaml, 'isAlias' | 'isMap' | 'isScalar'>;
  readonly violations: SyntaxViolation[];
  readonly budget: DocumentBudget;
  /** The latest node of each anchor: an alias refers to the last preceding one. */
  readonly anchors: Map<string, ParsedNode>;
  /** The target of each alias, because a later node may reuse the anchor. */
  readonly targets: Map<Alias, ParsedNode>;
  readonly open: Set<ParsedNode>;
  aliasDepth: number;
  aliasedNodes: number;
}

/**
 * Converts the library's tree to a SyntaxNode, with aliases expanded.
 * @throws SyntaxStop for depth, for aliases that are unknown, circular or too many, and for a key that is
 * not a string.
 */
export function buildYamlNode(
  root: ParsedNode | null,
  violations: SyntaxViolation[],
  limits: TextLimits,
): SyntaxNode {
  const build: Build = {
    yaml: loadYaml(),
    violations,
    budget: new DocumentBudget(limits),
    anchors: new Map(),
    targets: new Map(),
    open: new Set(),
    aliasDepth: 0,
    aliasedNodes: 0,
  };
  return root === null ? createScalar(null, 0, violations) : buildNode(root, build, 0);
}

function buildNode(node: ParsedNode, build: Build, depth: number): SyntaxNode {
  const { isAlias, isMap, isScalar } = build.yaml;
  const offset = offsetOf(node);
  build.budget.countValue(depth, offset);
  if (isAlias(node)) return buildAlias(node, build, depth);
  countAliased(build, offset);
  registerAnchor(node, build);
  if (isScalar(node)) return buildScalar(node, build);
  build.open.add(node);
  const built = isMap(node) ? buildMapping(node, build, depth) : buildList(node, build, depth);
  build.open.delete(node);
  return built;
}

function registerAnchor(node: Exclude<ParsedNode, Alias.Parsed>, build: Build): void {
  if (node.anchor !== undefined) build.anchors.set(node.anchor, node);
}

function buildAlias(node: Alias.Parsed, build: Build, depth: number): SyntaxNode {
  const target = resolveAlias(node, build);
  build.aliasDepth += 1;
  const built = buildNode(target, build, depth);
  build.aliasDepth -= 1;
  return built;
}

function resolveAlias(node: Alias.Parsed, build: Build): ParsedNode {
  const offset = offsetOf(node);
  const target = build.targets.get(node) ?? build.anchors.get(node.source);
  if (target === undefined) {
    throw stopAtAlias('unknown-alias', 'an alias has no anchor before it', offset);
  }
  if (build.open.has(target)) {
    throw stopAtAlias('circular-alias', 'an alias is part of the value that it refers to', offset);
  }
  build.targets.set(node, target);
  return target;
}

function countAliased(build: Build, offset: number): void {
  if (build.aliasDepth === 0) return;
  build.aliasedNodes += 1;
  if (build.aliasedNodes <= MAX_ALIASED_NODES) return;
  const message = `the aliases expand to more than ${MAX_ALIASED_NODES} values`;
  throw stopAtAlias('too-many-aliases', message, offset);
}

function stopAtAlias(rule: string, message: string, offset: number): SyntaxStop {
  return new SyntaxStop({ rule, message, hint: 'repeat the value instead', offset });
}

function buildScalar(node: Scalar.Parsed, build: Build): SyntaxNode {
  return createScalar(readScalar(node.value), offsetOf(node), build.violations);
}

function readScalar(value: unknown): string | number | boolean | null {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  return copyString(String(value));
}

function buildList(node: YAMLSeq.Parsed, build: Build, depth: number): SyntaxNode {
  const items = node.items.map((item) => buildNode(item as ParsedNode, build, depth + 1));
  return { kind: 'list', offset: offsetOf(node), items };
}

function buildMapping(node: YAMLMap.Parsed, build: Build, depth: number): SyntaxNode {
  const entries = new Map<string, SyntaxEntry>();
  for (const pair of node.items) {
    const offset = offsetOf(pair.key);
    const key = readKey(pair.key, build);
    build.budget.countKey(entries, offset);
    const value =
      pair.value === null
        ? createScalar(null, offset, build.violations)
        : buildNode(pair.value, build, depth + 1);
    addEntry(entries, key, { offset, node: value }, build.violations);
  }
  return { kind: 'mapping', offset: offsetOf(node), entries };
}

/** @throws SyntaxStop for a key that is not a string, or an alias of one. */
function readKey(node: ParsedNode, build: Build): string {
  const { isAlias, isScalar } = build.yaml;
  const offset = offsetOf(node);
  const target = isAlias(node) ? resolveAlias(node, build) : node;
  if (!isScalar(target) || typeof target.value !== 'string') {
    const message = 'a key must be a string';
    throw new SyntaxStop({ rule: 'yaml-syntax', message, hint: null, offset });
  }
  if (target === node) registerAnchor(target, build);
  if (target.value === '<<' && target.type === 'PLAIN') {
    const message = "merge keys ('<<') are not supported";
    build.violations.push({ rule: 'merge-key', message, hint: 'write the keys out', offset });
  }
  return copyString(target.value);
}

function offsetOf(node: ParsedNode): number {
  return node.range[0];
}

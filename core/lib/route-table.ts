import type { RouteTemplate, TemplateSegment } from './route-template.js';

export interface TableEntry<T> {
  readonly method: string;
  readonly template: RouteTemplate;
  readonly value: T;
}

export interface RouteMatch<T> {
  readonly value: T;
  /** Decoded, in the order of the template; without a prototype, since callers choose the values. */
  readonly params: Readonly<Record<string, string>>;
}

/** Most nodes are leaves: a map is only created where there are children. */
interface Node<T> {
  literals: Map<string, Node<T>> | null;
  param: Node<T> | null;
  /** Entries with a rest parameter that starts here, one per method. */
  rests: readonly TableEntry<T>[];
  /** Entries that end here, one per method. */
  ends: readonly TableEntry<T>[];
}

const NONE: readonly never[] = [];

/** Thrown by {@link RouteTable.add} for two routes with one method and one shape. */
export class RouteConflict extends Error {
  override readonly name = 'RouteConflict';
}

/**
 * A trie over decoded segments. Precedence is a property of the templates, not of their order: segment
 * by segment from the left, literal before parameter before rest, with backtracking.
 */
export class RouteTable<T> {
  readonly #root: Node<T> = createNode();
  readonly #entries: TableEntry<T>[] = [];

  /** @throws RouteConflict when another route has the same method and shape. */
  add(entry: TableEntry<T>): void {
    let node = this.#root;
    for (const segment of entry.template.segments) {
      if (segment.kind === 'rest') break;
      node = step(node, segment);
    }
    const last = entry.template.segments.at(-1);
    const slot = last?.kind === 'rest' ? 'rests' : 'ends';
    const taken = pick(node[slot], entry.method);
    if (taken !== null) {
      throw new RouteConflict(
        `route '${entry.method} ${entry.template.text}' has the shape of '${taken.method} ${taken.template.text}'`,
      );
    }
    node[slot] = node[slot].concat(entry);
    this.#entries.push(entry);
  }

  /** In the order in which they were added. */
  get entries(): readonly TableEntry<T>[] {
    return this.#entries;
  }

  /** @param decoded the decoded segments; `null` when no route matches */
  match(method: string, decoded: readonly string[]): RouteMatch<T> | null {
    const entry = find(this.#root, method, decoded, 0);
    return entry && { value: entry.value, params: readParams(entry.template, decoded) };
  }

  /** Every route that matches, the one that answers first, for `explain`. */
  matchAll(method: string, decoded: readonly string[]): RouteMatch<T>[] {
    const found: TableEntry<T>[] = [];
    collect(this.#root, method, decoded, 0, found);
    return found.map((entry) => ({
      value: entry.value,
      params: readParams(entry.template, decoded),
    }));
  }
}

function createNode<T>(): Node<T> {
  return { literals: null, param: null, rests: NONE, ends: NONE };
}

function step<T>(node: Node<T>, segment: TemplateSegment): Node<T> {
  if (segment.kind === 'literal') {
    node.literals ??= new Map();
    const next = node.literals.get(segment.text) ?? createNode<T>();
    node.literals.set(segment.text, next);
    return next;
  }
  node.param ??= createNode<T>();
  return node.param;
}

function pick<T>(entries: readonly TableEntry<T>[], method: string): TableEntry<T> | null {
  for (const entry of entries) if (entry.method === method) return entry;
  return null;
}

function find<T>(
  node: Node<T>,
  method: string,
  decoded: readonly string[],
  index: number,
): TableEntry<T> | null {
  const segment = decoded[index];
  if (segment === undefined) return pick(node.ends, method);
  const literal = node.literals?.get(segment);
  const viaLiteral = literal && find(literal, method, decoded, index + 1);
  if (viaLiteral) return viaLiteral;
  const viaParam = node.param && find(node.param, method, decoded, index + 1);
  return viaParam ?? pick(node.rests, method);
}

function collect<T>(
  node: Node<T>,
  method: string,
  decoded: readonly string[],
  index: number,
  found: TableEntry<T>[],
): void {
  const segment = decoded[index];
  if (segment === undefined) {
    const end = pick(node.ends, method);
    if (end) found.push(end);
    return;
  }
  const literal = node.literals?.get(segment);
  if (literal) collect(literal, method, decoded, index + 1, found);
  if (node.param) collect(node.param, method, decoded, index + 1, found);
  const rest = pick(node.rests, method);
  if (rest) found.push(rest);
}

function readParams(template: RouteTemplate, decoded: readonly string[]): Record<string, string> {
  const params = Object.create(null) as Record<string, string>;
  for (const [index, segment] of template.segments.entries()) {
    if (segment.kind === 'param') params[segment.name] = decoded[index] ?? '';
    if (segment.kind === 'rest') params[segment.name] = decoded.slice(index).join('/');
  }
  return params;
}

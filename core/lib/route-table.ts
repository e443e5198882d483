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

/** A table of few routes is mostly nodes, and of what a node may have, most have one: the rest is `null`. */
interface Node<T> {
  literals: Map<string, Node<T>> | null;
  param: Node<T> | null;
  /** Entries whose rest parameter starts here, by method. */
  rests: Map<string, TableEntry<T>> | null;
  /** Entries that end here, by method. */
  ends: Map<string, TableEntry<T>> | null;
}

/** Of a route that has none. */
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** Thrown by {@link RouteTable.add} for two routes with one method and one shape. */
export class RouteConflict extends Error {
  override readonly name = 'RouteConflict';
}

/**
 * A trie over decoded segments. Precedence is a property of the templates, not of their order: segment
 * by segment from the left, literal before parameter before rest, with backtracking (contract 1.3).
 */
export class RouteTable<T> {
  readonly #root: Node<T> = createNode();
  /** Routes without any parameter, found by one lookup: nothing can come before a literal match. */
  readonly #literal = new Map<string, RouteMatch<T>>();

  /** @throws RouteConflict when method and shape are taken. */
  add(entry: TableEntry<T>): void {
    let node = this.#root;
    for (const segment of entry.template.segments) {
      if (segment.kind === 'rest') break;
      node = step(node, segment);
    }
    const last = entry.template.segments.at(-1);
    const slot = openSlot(node, last?.kind === 'rest' ? 'rests' : 'ends');
    const taken = slot.get(entry.method);
    if (taken !== undefined) {
      throw new RouteConflict(
        `route '${entry.method} ${entry.template.text}' has the shape of '${taken.method} ${taken.template.text}'`,
      );
    }
    slot.set(entry.method, entry);
    if (entry.template.segments.every((segment) => segment.kind === 'literal')) {
      this.#literal.set(literalKey(entry.method, entry.template), {
        value: entry.value,
        params: NO_PARAMS,
      });
    }
  }

  /** `decoded` are the decoded segments and `path` is `/` + them joined; `null` when no route matches. */
  match(method: string, decoded: readonly string[], path: string): RouteMatch<T> | null {
    const literal = this.#literal.get(`${method} ${path}`);
    if (literal !== undefined) return literal;
    const entry = find(this.#root, method, decoded, 0);
    return entry && { value: entry.value, params: readParams(entry.template, decoded) };
  }

  /** Every route that matches, the winner first: what `explain` shows. */
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
  return { literals: null, param: null, rests: null, ends: null };
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

function openSlot<T>(node: Node<T>, name: 'rests' | 'ends'): Map<string, TableEntry<T>> {
  const slot = node[name] ?? new Map<string, TableEntry<T>>();
  node[name] = slot;
  return slot;
}

function literalKey(method: string, template: RouteTemplate): string {
  return `${method} ${template.text}`;
}

function find<T>(
  node: Node<T>,
  method: string,
  decoded: readonly string[],
  index: number,
): TableEntry<T> | null {
  const segment = decoded[index];
  if (segment === undefined) return node.ends?.get(method) ?? null;
  const literal = node.literals?.get(segment);
  const viaLiteral = literal && find(literal, method, decoded, index + 1);
  if (viaLiteral) return viaLiteral;
  const viaParam = node.param && find(node.param, method, decoded, index + 1);
  return viaParam ?? node.rests?.get(method) ?? null;
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
    const end = node.ends?.get(method);
    if (end) found.push(end);
    return;
  }
  const literal = node.literals?.get(segment);
  if (literal) collect(literal, method, decoded, index + 1, found);
  if (node.param) collect(node.param, method, decoded, index + 1, found);
  const rest = node.rests?.get(method);
  if (rest) found.push(rest);
}

function readParams(template: RouteTemplate, decoded: readonly string[]): Record<string, string> {
  const params = Object.create(null) as Record<string, string>;
  template.segments.forEach((segment, index) => {
    if (segment.kind === 'param') params[segment.name] = decoded[index] ?? '';
    if (segment.kind === 'rest') params[segment.name] = decoded.slice(index).join('/');
  });
  return params;
}

import { compareMixed, matchMixed } from './mixed-segment.js';
import { isUnreachable } from './path-segment.js';
import {
  listParameters,
  type MixedSegment,
  type RouteTemplate,
  type TemplateSegment,
} from './route-template.js';

export interface TableEntry<T> {
  readonly method: string;
  readonly template: RouteTemplate;
  readonly value: T;
  /** Whether it is a WebSocket: another route may have the same method and shape. Default false. */
  readonly isUpgrade?: boolean;
}

export interface RouteMatch<T> {
  readonly value: T;
  /** Decoded, in the order of the template; without a prototype, since callers choose the values. */
  readonly params: Readonly<Record<string, string>>;
}

/** Most nodes are leaves: a map is only created with children. */
interface Node<T> {
  literals: Map<string, Node<T>> | null;
  /** The branches, in the order in which they are tried. */
  mixed: readonly MixedBranch<T>[];
  param: Node<T> | null;
  /** Entries with a rest parameter that starts here, one per method. */
  rests: readonly TableEntry<T>[];
  /** The same entries for templates that end with a slash. */
  slashRests: readonly TableEntry<T>[];
  /** Entries that end here, one per method. */
  ends: readonly TableEntry<T>[];
}

interface MixedBranch<T> {
  readonly segment: MixedSegment;
  readonly node: Node<T>;
}

const NONE: readonly never[] = [];

/** Thrown by {@link RouteTable.add} for two routes with one method and one shape. */
export class RouteConflict extends Error {
  override readonly name = 'RouteConflict';
}

/**
 * A trie over decoded segments; the last one is empty if the path ends with a slash. Precedence is
 * a property of the templates, not of their order: segment by segment from the left, literal before
 * mixed before parameter before rest, with backtracking.
 */
export class RouteTable<T> {
  readonly #root: Node<T> = createNode();
  readonly #entries: TableEntry<T>[] = [];

  /** @throws RouteConflict when another route has the same method and shape. */
  add(entry: TableEntry<T>): void {
    const { segments, text } = entry.template;
    let node = this.#root;
    for (const segment of segments) {
      if (segment.kind === 'rest') break;
      node = step(node, segment);
    }
    const slot = findSlot(segments);
    const selection = { method: entry.method, isUpgrade: entry.isUpgrade === true };
    const existing = pick(node[slot], selection);
    if (existing !== null && isSameKind(existing, selection)) {
      throw new RouteConflict(
        `route '${entry.method} ${text}' has the shape of '${existing.method} ${existing.template.text}'`,
      );
    }
    node[slot] = node[slot].concat(entry);
    this.#entries.push(entry);
  }

  /** The entries, in the order in which they were added. */
  get entries(): readonly TableEntry<T>[] {
    return this.#entries;
  }

  /**
   * @param decoded the decoded segments
   * @param encoded the positions of segments that only encoded parameters accept
   * @param isUpgrade whether WebSockets take precedence over other routes of the same shape, or the
   * reverse
   * @returns `null` when no route matches
   */
  match(
    method: string,
    decoded: readonly string[],
    encoded: readonly number[] = NONE,
    isUpgrade = false,
  ): RouteMatch<T> | null {
    const entry = find(this.#root, { method, decoded, encoded, isUpgrade }, 0);
    return entry && { value: entry.value, params: readParams(entry.template, decoded) };
  }

  /** Lists all matching routes for `explain`, the one that handles the request first. */
  matchAll(
    method: string,
    decoded: readonly string[],
    encoded: readonly number[] = NONE,
  ): RouteMatch<T>[] {
    const entries: TableEntry<T>[] = [];
    find(this.#root, { method, decoded, encoded, isUpgrade: false }, 0, entries);
    return entries.map((entry) => ({
      value: entry.value,
      params: readParams(entry.template, decoded),
    }));
  }
}

interface Wanted {
  readonly method: string;
  readonly isUpgrade: boolean;
}

interface Lookup extends Wanted {
  readonly decoded: readonly string[];
  readonly encoded: readonly number[];
}

function createNode<T>(): Node<T> {
  return { literals: null, mixed: NONE, param: null, rests: NONE, slashRests: NONE, ends: NONE };
}

/** The place of the entry of a template in its last node. */
function findSlot(segments: readonly TemplateSegment[]): 'rests' | 'slashRests' | 'ends' {
  if (segments.at(-1)?.kind === 'rest') return 'rests';
  return segments.at(-2)?.kind === 'rest' ? 'slashRests' : 'ends';
}

function step<T>(node: Node<T>, segment: TemplateSegment): Node<T> {
  if (segment.kind === 'literal') {
    node.literals ??= new Map();
    const next = node.literals.get(segment.text) ?? createNode<T>();
    node.literals.set(segment.text, next);
    return next;
  }
  if (segment.kind === 'mixed') return stepMixed(node, segment);
  node.param ??= createNode<T>();
  return node.param;
}

function stepMixed<T>(node: Node<T>, segment: MixedSegment): Node<T> {
  const present = node.mixed.find((branch) => branch.segment.shape === segment.shape);
  if (present !== undefined) return present.node;
  const branch = { segment, node: createNode<T>() };
  node.mixed = [...node.mixed, branch].sort((branch, other) =>
    compareMixed(branch.segment, other.segment),
  );
  return branch.node;
}

/** Picks the requested entry of two that differ in whether they are WebSockets. */
function pick<T>(entries: readonly TableEntry<T>[], selection: Wanted): TableEntry<T> | null {
  let other: TableEntry<T> | null = null;
  for (const entry of entries) {
    if (entry.method !== selection.method) continue;
    if (isSameKind(entry, selection)) return entry;
    other = entry;
  }
  return other;
}

function isSameKind<T>({ isUpgrade = false }: TableEntry<T>, selection: Wanted): boolean {
  return isUpgrade === selection.isUpgrade;
}

/** @param all collects every match; without it the first match ends the search */
function find<T>(
  node: Node<T>,
  lookup: Lookup,
  index: number,
  all?: TableEntry<T>[],
): TableEntry<T> | null {
  const { decoded } = lookup;
  const segment = decoded[index];
  if (segment === undefined) return accept(node.ends, lookup, all);
  const literal = node.literals?.get(segment);
  const viaLiteral = literal && find(literal, lookup, index + 1, all);
  if (viaLiteral) return viaLiteral;
  if (segment === '') return null;
  for (const branch of node.mixed) {
    if (matchMixed(branch.segment, segment) === null) continue;
    const viaMixed = find(branch.node, lookup, index + 1, all);
    if (viaMixed) return viaMixed;
  }
  const viaParam = node.param && find(node.param, lookup, index + 1, all);
  if (viaParam) return viaParam;
  const rests = decoded.at(-1) === '' ? node.slashRests : node.rests;
  return accept(rests, lookup, all);
}

function accept<T>(
  entries: readonly TableEntry<T>[],
  lookup: Lookup,
  all: TableEntry<T>[] | undefined,
): TableEntry<T> | null {
  const { decoded, encoded } = lookup;
  const entry = pick(entries, lookup);
  if (entry === null) return null;
  if (encoded.length > 0 && !takesEncoded(entry.template, decoded, encoded)) return null;
  if (all === undefined) return entry;
  all.push(entry);
  const other = pick(entries, { ...lookup, isUpgrade: !lookup.isUpgrade });
  if (other !== null && other !== entry) all.push(other);
  return null;
}

/** Whether encoded parameters accept each of these segments. */
function takesEncoded(
  { segments }: RouteTemplate,
  decoded: readonly string[],
  encoded: readonly number[],
): boolean {
  const rest = segments.findIndex(({ kind }) => kind === 'rest');
  return encoded.every((index) => {
    const segment = segments[rest === -1 ? index : Math.min(index, rest)];
    if (segment === undefined || segment.kind === 'literal') return false;
    if (segment.kind !== 'mixed') return segment.isEncoded;
    const values = matchMixed(segment, decoded[index] ?? '') ?? [];
    return listParameters({ segments: [segment] }).every(
      ({ isEncoded }, place) => isEncoded || !isUnreachable(values[place] ?? ''),
    );
  });
}

function readParams(template: RouteTemplate, decoded: readonly string[]): Record<string, string> {
  const params = Object.create(null) as Record<string, string>;
  for (const [index, segment] of template.segments.entries()) {
    if (segment.kind === 'param') params[segment.name] = decoded[index] ?? '';
    if (segment.kind === 'mixed') readMixed(segment, decoded[index] ?? '', params);
    if (segment.kind === 'rest') {
      const end = decoded.at(-1) === '' ? -1 : undefined;
      params[segment.name] = decoded.slice(index, end).join('/');
    }
  }
  return params;
}

function readMixed(segment: MixedSegment, decoded: string, params: Record<string, string>): void {
  const values = matchMixed(segment, decoded) ?? [];
  for (const [place, { name }] of listParameters({ segments: [segment] }).entries()) {
    params[name] = values[place] ?? '';
  }
}

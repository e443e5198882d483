import type { Path, PathEnd } from './diagnostic.js';
import type { TextLimits } from './text-limits.js';

/** The result of both parsers: the values of a JSON or YAML text with their offsets in UTF-16 units. */
export type SyntaxNode =
  | { readonly kind: 'scalar'; readonly offset: number; readonly value: Scalar }
  | { readonly kind: 'list'; readonly offset: number; readonly items: readonly SyntaxNode[] }
  | {
      readonly kind: 'mapping';
      readonly offset: number;
      readonly entries: ReadonlyMap<string, SyntaxEntry>;
    };

type Scalar = string | number | boolean | null;

export interface SyntaxEntry {
  readonly offset: number;
  readonly node: SyntaxNode;
}

export interface SyntaxViolation {
  readonly rule: string;
  readonly message: string;
  readonly hint: string | null;
  readonly offset: number;
}

/** Far above any real schema, and far below the limit of recursion. */
export const MAX_DEPTH = 100;

export const TOO_DEEP = {
  rule: 'too-deep',
  message: `lists and mappings are nested more than ${MAX_DEPTH} levels deep`,
  hint: null,
} as const;

/** The maximum number of keys of one mapping. Real files have far fewer. */
export const MAX_KEYS = 10_000;

const TOO_MANY_KEYS = {
  rule: 'too-many-keys',
  message: `a mapping has more than ${MAX_KEYS} keys`,
  hint: null,
} as const;

export const EMPTY_TEXT: SyntaxViolation = {
  rule: 'empty-file',
  message: 'the file is empty',
  hint: null,
  offset: 0,
};

/** Stops a parser at a violation after which it cannot continue. */
export class SyntaxStop extends Error {
  override readonly name = 'SyntaxStop';
  readonly violation: SyntaxViolation;

  constructor(violation: SyntaxViolation) {
    super(violation.message);
    this.violation = violation;
  }
}

/** Limits the size of a document, so that parsing and validation cannot block the event loop. */
export class DocumentBudget {
  readonly #limits: Pick<TextLimits, 'values' | 'hint'>;
  #values = 0;

  constructor(limits: Pick<TextLimits, 'values' | 'hint'>) {
    this.#limits = limits;
  }

  /** @throws SyntaxStop at the first value beyond the depth or the number of values. */
  countValue(depth: number, offset: number): void {
    if (depth > MAX_DEPTH) throw new SyntaxStop({ ...TOO_DEEP, offset });
    this.#values += 1;
    const { values, hint } = this.#limits;
    if (this.#values <= values) return;
    const message = `the file holds more than ${values} values`;
    throw new SyntaxStop({ rule: 'too-many-values', message, hint, offset });
  }

  /** @throws SyntaxStop at the first key beyond the number of keys of one mapping. */
  countKey(entries: ReadonlyMap<string, SyntaxEntry>, offset: number): void {
    if (entries.size >= MAX_KEYS) throw new SyntaxStop({ ...TOO_MANY_KEYS, offset });
  }
}

/** Copies a string, because a slice would keep the whole text in memory. */
export function copyString(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

export function createScalar(
  value: Scalar,
  offset: number,
  violations: SyntaxViolation[],
): SyntaxNode {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const message = 'a number must be finite and within the range of a double';
    violations.push({ rule: 'non-finite-number', message, hint: null, offset });
  }
  if (typeof value === 'string') checkString(value, offset, violations);
  return { kind: 'scalar', offset, value };
}

/** Adds an entry of a mapping, or a violation if its key is not allowed. */
export function addEntry(
  entries: Map<string, SyntaxEntry>,
  key: string,
  entry: SyntaxEntry,
  violations: SyntaxViolation[],
): void {
  const { offset } = entry;
  if (entries.has(key)) {
    const message = 'this mapping has the same key twice';
    violations.push({ rule: 'duplicate-key', message, hint: 'remove one of the two', offset });
  }
  if (key === '__proto__') {
    // Assigning this key would replace the prototype of the copied object.
    const message = "the key '__proto__' is not allowed";
    violations.push({ rule: 'forbidden-key', message, hint: null, offset });
  }
  checkString(key, offset, violations);
  entries.set(key, entry);
}

function checkString(text: string, offset: number, violations: SyntaxViolation[]): void {
  if (text.isWellFormed()) return;
  const message = 'a string holds half of a surrogate pair, which is not a character';
  violations.push({ rule: 'lone-surrogate', message, hint: null, offset });
}

export function readNodeValue(node: SyntaxNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(readNodeValue);
  const value: Record<string, unknown> = {};
  for (const [key, entry] of node.entries) value[key] = readNodeValue(entry.node);
  return makeStringifiable(value);
}

/**
 * Prevents an exception: superstruct converts a rejected value to text, which throws for a mapping
 * with the keys `toString` or `valueOf`.
 */
export function makeStringifiable<T extends object>(value: T): T {
  if (!Object.hasOwn(value, 'toString') && !Object.hasOwn(value, 'valueOf')) return value;
  return Object.defineProperty(value, Symbol.toPrimitive, { value: () => '' });
}

/** The offset of a path, or of the nearest part of it that exists. */
export function findNodeOffset(root: SyntaxNode, path: Path, at: PathEnd): number {
  let node = root;
  let keyOffset = root.offset;
  for (const step of path) {
    const next = findChild(node, step);
    if (next === undefined) return keyOffset;
    keyOffset = next.offset;
    node = next.node;
  }
  return at === 'key' ? keyOffset : node.offset;
}

function findChild(node: SyntaxNode, step: string | number): SyntaxEntry | undefined {
  if (node.kind === 'mapping') return node.entries.get(String(step));
  if (node.kind !== 'list' || typeof step !== 'number') return undefined;
  const item = node.items[step];
  return item && { offset: item.offset, node: item };
}

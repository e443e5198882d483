import type { Path, PathEnd } from './diagnostic.js';

/** What a JSON or YAML text says, and where: the common ground of both parsers. Offsets in UTF-16 units. */
export type SyntaxNode =
  | { readonly kind: 'scalar'; readonly offset: number; readonly value: Scalar }
  | { readonly kind: 'list'; readonly offset: number; readonly items: readonly SyntaxNode[] }
  | {
      readonly kind: 'mapping';
      readonly offset: number;
      readonly entries: ReadonlyMap<string, SyntaxEntry>;
    };

export type Scalar = string | number | boolean | null;

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

/** Levels of lists and mappings: far beyond any real schema, far below what a recursive walk can take. */
export const MAX_DEPTH = 100;

export const TOO_DEEP = {
  rule: 'too-deep',
  message: `lists and mappings are nested more than ${MAX_DEPTH} levels deep`,
  hint: null,
} as const;

/**
 * Lists, mappings and scalars of a text: a manifest of ten thousand routes has half of it. What has more
 * would keep the host from its callers while it is read and judged.
 */
export const MAX_VALUES = 200_000;

export const TOO_MANY_VALUES = {
  rule: 'too-many-values',
  message: `the file holds more than ${MAX_VALUES} values`,
  hint: null,
} as const;

export const EMPTY_TEXT: SyntaxViolation = {
  rule: 'empty-file',
  message: 'the file is empty',
  hint: null,
  offset: 0,
};

/** Stops a parser at the first fault that it cannot read past. */
export class SyntaxStop extends Error {
  override readonly name = 'TextStop';
  readonly violation: SyntaxViolation;

  constructor(fault: SyntaxViolation) {
    super(fault.message);
    this.violation = fault;
  }
}

export function createScalar(value: Scalar, offset: number, faults: SyntaxViolation[]): SyntaxNode {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const message = 'a number must be finite and within the range of a double';
    faults.push({ rule: 'non-finite-number', message, hint: null, offset });
  }
  if (typeof value === 'string') assertValidString(value, offset, faults);
  return { kind: 'scalar', offset, value };
}

/** Adds an entry of a mapping, and a fault when its key cannot be taken. */
export function addEntry(
  entries: Map<string, SyntaxEntry>,
  key: string,
  entry: SyntaxEntry,
  faults: SyntaxViolation[],
): void {
  const { offset } = entry;
  if (entries.has(key)) {
    const message = 'this mapping has the same key twice';
    faults.push({ rule: 'duplicate-key', message, hint: 'remove one of the two', offset });
  }
  if (key === '__proto__') {
    // An assignment with this key would swap the prototype of whatever the value is copied to.
    const message = "the key '__proto__' is not allowed";
    faults.push({ rule: 'forbidden-key', message, hint: null, offset });
  }
  assertValidString(key, offset, faults);
  entries.set(key, entry);
}

function assertValidString(text: string, offset: number, faults: SyntaxViolation[]): void {
  if (text.isWellFormed()) return;
  const message = 'a string holds half of a surrogate pair, which is no character';
  faults.push({ rule: 'lone-surrogate', message, hint: null, offset });
}

export function readNodeValue(node: SyntaxNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(readNodeValue);
  const value: Record<string, unknown> = {};
  for (const [key, entry] of node.entries) value[key] = readNodeValue(entry.node);
  return makeStringifiable(value);
}

/**
 * superstruct turns a value that it refuses into text, which throws for a mapping that has keys
 * `toString` or `valueOf`. Such a mapping gets a conversion of its own, which no walk over keys sees.
 */
export function makeStringifiable<T extends object>(value: T): T {
  if (!Object.hasOwn(value, 'toString') && !Object.hasOwn(value, 'valueOf')) return value;
  return Object.defineProperty(value, Symbol.toPrimitive, { value: () => '' });
}

/** The offset of a path, or of the nearest part of it that the document has. */
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

import {
  addEntry,
  createScalar,
  MAX_DEPTH,
  MAX_VALUES,
  type SyntaxEntry,
  type SyntaxNode,
  SyntaxStop,
  type SyntaxViolation,
  TOO_DEEP,
  TOO_MANY_VALUES,
} from './syntax-tree.js';

interface Cursor {
  readonly text: string;
  readonly faults: SyntaxViolation[];
  offset: number;
  /** Read so far. */
  values: number;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const WORDS = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Reads strict JSON (RFC 8259) with the place of every key and value; JSON.parse tells neither places
 * nor duplicate keys.
 * @throws TextStop at the first character that is not JSON.
 */
export function parseJsonNode(text: string, faults: SyntaxViolation[]): SyntaxNode {
  const cursor: Cursor = { text, faults, offset: 0, values: 0 };
  skipSpace(cursor);
  const node = readNode(cursor, 0);
  skipSpace(cursor);
  if (cursor.offset < text.length) throw stop(cursor, 'expected the end of the file');
  return node;
}

function readNode(cursor: Cursor, depth: number): SyntaxNode {
  if (depth > MAX_DEPTH) throw new SyntaxStop({ ...TOO_DEEP, offset: cursor.offset });
  cursor.values += 1;
  if (cursor.values > MAX_VALUES)
    throw new SyntaxStop({ ...TOO_MANY_VALUES, offset: cursor.offset });
  const { offset } = cursor;
  switch (cursor.text[offset]) {
    case '{':
      return readMapping(cursor, depth);
    case '[':
      return readList(cursor, depth);
    case '"':
      return createScalar(readString(cursor), offset, cursor.faults);
    default:
      return readWordOrNumber(cursor);
  }
}

function readMapping(cursor: Cursor, depth: number): SyntaxNode {
  const { offset } = cursor;
  const entries = new Map<string, SyntaxEntry>();
  readSequence(cursor, '}', () => {
    const keyOffset = cursor.offset;
    if (cursor.text[keyOffset] !== '"') throw stop(cursor, 'expected a key in double quotes');
    const key = readString(cursor);
    skipSpace(cursor);
    if (!take(cursor, ':')) throw stop(cursor, "expected ':' after the key");
    skipSpace(cursor);
    const node = readNode(cursor, depth + 1);
    addEntry(entries, key, { offset: keyOffset, node }, cursor.faults);
  });
  return { kind: 'mapping', offset, entries };
}

function readList(cursor: Cursor, depth: number): SyntaxNode {
  const { offset } = cursor;
  const items: SyntaxNode[] = [];
  readSequence(cursor, ']', () => {
    items.push(readNode(cursor, depth + 1));
  });
  return { kind: 'list', offset, items };
}

/** Reads what stands between brackets, the cursor on the opening one. */
function readSequence(cursor: Cursor, close: '}' | ']', readItem: () => void): void {
  cursor.offset += 1;
  skipSpace(cursor);
  if (take(cursor, close)) return;
  for (;;) {
    readItem();
    skipSpace(cursor);
    if (take(cursor, close)) return;
    const comma = cursor.offset;
    if (!take(cursor, ',')) throw stop(cursor, `expected ',' or '${close}'`);
    skipSpace(cursor);
    if (cursor.text[cursor.offset] === close) {
      cursor.offset = comma;
      throw stop(cursor, `a comma must not stand before '${close}'`, 'remove the comma');
    }
  }
}

function readString(cursor: Cursor): string {
  const { text } = cursor;
  const start = cursor.offset;
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  if (end >= text.length) throw stop(cursor, 'a string is not closed');
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1));
    cursor.offset = end + 1;
    return String(value);
  } catch {
    const hint = 'escape line breaks, control characters and backslashes';
    throw stop(cursor, 'a string holds something that JSON does not allow', hint);
  }
}

function readWordOrNumber(cursor: Cursor): SyntaxNode {
  const { offset, faults } = cursor;
  const word = match(cursor, WORD);
  if (word !== null) return createScalar(WORDS.get(word) ?? null, offset, faults);
  const number = match(cursor, NUMBER);
  if (number !== null) return createScalar(Number(number), offset, faults);
  const isComment = /^(?:#|\/[/*])/.test(cursor.text.slice(offset, offset + 2));
  throw stop(cursor, 'expected a value', isComment ? 'JSON has no comments' : null);
}

function skipSpace(cursor: Cursor): void {
  match(cursor, SPACE);
}

function match(cursor: Cursor, pattern: RegExp): string | null {
  pattern.lastIndex = cursor.offset;
  const found = pattern.exec(cursor.text);
  if (found === null) return null;
  cursor.offset = pattern.lastIndex;
  return found[0];
}

function take(cursor: Cursor, character: string): boolean {
  if (cursor.text[cursor.offset] !== character) return false;
  cursor.offset += 1;
  return true;
}

function stop(cursor: Cursor, message: string, hint: string | null = null): SyntaxStop {
  return new SyntaxStop({ rule: 'json-syntax', message, hint, offset: cursor.offset });
}

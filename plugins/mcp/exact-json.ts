/** A JSON value with its original text. */
export type ExactValue =
  | { readonly kind: 'object'; readonly text: string; readonly members: ExactMembers }
  | { readonly kind: 'array'; readonly text: string; readonly items: readonly ExactValue[] }
  | { readonly kind: 'string'; readonly text: string; readonly value: string }
  | { readonly kind: 'number' | 'boolean' | 'null'; readonly text: string };

type ExactMembers = ReadonlyMap<string, ExactValue>;

/** The reason why a text is rejected; the message continues `the arguments have `. */
export class InexactJson extends Error {
  override readonly name = 'InexactJson';
  readonly problem: 'malformed' | 'ambiguous' | 'too many';

  constructor(message: string, problem: InexactJson['problem'] = 'ambiguous') {
    super(message);
    this.problem = problem;
  }
}

const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** JSON does not allow control characters in strings. */
const MIN_CHARACTER = 0x20;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const ESCAPE_OR_CONTROL = /[\\\u0000-\u001f]/;

/** Deeper than any tool needs, but safe for the stack. */
const MAX_DEPTH = 100;

/**
 * Parses a JSON text and keeps the text of each value.
 * @param maxValues the maximum number of values, containers included; default no maximum
 * @throws InexactJson for another text, for duplicate members, which a parser would merge, for deep
 * nesting and for too many values.
 */
export function parseExact(text: string, maxValues = Number.POSITIVE_INFINITY): ExactValue {
  return new Reader(text, maxValues).readAll();
}

class Reader {
  readonly #text: string;
  readonly #maxValues: number;
  #values = 0;
  #at = 0;

  constructor(text: string, maxValues: number) {
    this.#text = text;
    this.#maxValues = maxValues;
  }

  readAll(): ExactValue {
    const value = this.#read(0);
    if (this.#at < this.#text.length) throw createMalformed();
    return value;
  }

  #read(depth: number): ExactValue {
    if (depth > MAX_DEPTH) throw new InexactJson(`more than ${MAX_DEPTH} levels`);
    this.#values += 1;
    if (this.#values > this.#maxValues) {
      throw new InexactJson(`more than ${this.#maxValues} values`, 'too many');
    }
    this.#skipSpace();
    const value = this.#readValue(depth);
    this.#skipSpace();
    return value;
  }

  #readValue(depth: number): ExactValue {
    const start = this.#at;
    const first = this.#text[start];
    if (first === '{') {
      const members = this.#readMembers(depth);
      return { kind: 'object', text: this.#text.slice(start, this.#at), members };
    }
    if (first === '[') {
      const items = this.#readItems(depth);
      return { kind: 'array', text: this.#text.slice(start, this.#at), items };
    }
    if (first === '"') return this.#readString();
    const text = this.#match(SCALAR);
    if (text === 'null') return { kind: 'null', text };
    return { kind: text === 'true' || text === 'false' ? 'boolean' : 'number', text };
  }

  #readString(): ExactValue & { kind: 'string' } {
    const start = this.#at;
    this.#skip('"');
    const end = this.#text.indexOf('"', this.#at);
    const plain = this.#text.slice(this.#at, end);
    // Most strings: it takes a fifth of the time of the loop.
    if (end !== -1 && !ESCAPE_OR_CONTROL.test(plain)) {
      this.#at = end + 1;
      return { kind: 'string', text: this.#text.slice(start, this.#at), value: plain };
    }
    this.#at = findEndOfString(this.#text, this.#at);
    const text = this.#text.slice(start, this.#at);
    return { kind: 'string', text, value: parseEscaped(text) };
  }

  get #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #readMembers(depth: number): ExactMembers {
    const members = new Map<string, ExactValue>();
    this.#readList('}', () => {
      this.#skipSpace();
      const { value: name } = this.#readString();
      if (members.has(name)) throw new InexactJson('two members of one name');
      this.#skipSpace();
      this.#skip(':');
      members.set(name, this.#read(depth + 1));
    });
    return members;
  }

  #readItems(depth: number): readonly ExactValue[] {
    const items: ExactValue[] = [];
    this.#readList(']', () => items.push(this.#read(depth + 1)));
    return items;
  }

  /** Reads from the opening bracket to the end of the closing one. */
  #readList(end: string, readEntry: () => void): void {
    this.#at += 1;
    this.#skipSpace();
    if (this.#text[this.#at] === end) {
      this.#at += 1;
      return;
    }
    readEntry();
    while (this.#text[this.#at] === ',') {
      this.#at += 1;
      readEntry();
    }
    this.#skip(end);
  }

  #skipSpace(): void {
    while (isSpace(this.#code)) this.#at += 1;
  }

  #skip(character: string): void {
    if (this.#text[this.#at] !== character) throw createMalformed();
    this.#at += 1;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0];
    if (text === undefined) throw createMalformed();
    this.#at += text.length;
    return text;
  }
}

/**
 * The index after the closing quote of a string.
 * @param start the index after the opening one
 * @throws InexactJson for a string without an end, and for one with a control character.
 */
function findEndOfString(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
    // Also at the end of the text, where the code is NaN.
    if (!(code >= MIN_CHARACTER)) throw createMalformed();
    at += code === BACKSLASH ? 2 : 1;
  }
  return at + 1;
}

/** @throws InexactJson for an escape that JSON does not have. */
function parseEscaped(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw createMalformed();
  }
}

/** A blank, tab, line feed or carriage return. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function createMalformed(): InexactJson {
  return new InexactJson('a part that is not JSON', 'malformed');
}

/** The number of values in a value, itself included. */
export function countValues(value: ExactValue): number {
  let count = 1;
  if (value.kind === 'object')
    for (const member of value.members.values()) count += countValues(member);
  else if (value.kind === 'array') for (const item of value.items) count += countValues(item);
  return count;
}

/** Returns `undefined` without the member, and for anything but an object. */
export function findMember(value: ExactValue | undefined, name: string): ExactValue | undefined {
  return value?.kind === 'object' ? value.members.get(name) : undefined;
}

/** The value that JSON.parse returns for its text. */
export function toPlain(value: ExactValue): unknown {
  if (value.kind === 'object') {
    return Object.fromEntries([...value.members].map(([name, member]) => [name, toPlain(member)]));
  }
  if (value.kind === 'array') return value.items.map(toPlain);
  if (value.kind === 'string') return value.value;
  return JSON.parse(value.text);
}

/** @throws InexactJson for a number whose decimal value differs after a parse. */
export function assertExactNumbers(value: ExactValue): void {
  if (value.kind === 'object')
    for (const member of value.members.values()) assertExactNumbers(member);
  else if (value.kind === 'array') for (const item of value.items) assertExactNumbers(item);
  else if (value.kind === 'number' && !survivesParse(value.text)) {
    throw new InexactJson('a number that a parser would change');
  }
}

function survivesParse(text: string): boolean {
  if (/^-?[0-9]{1,15}$/.test(text)) return true;
  const value = Number(text);
  return Number.isFinite(value) && normalize(text) === normalize(String(value));
}

const DECIMAL = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/**
 * Normalizes a finite decimal value: sign, digits without zeros at either end, and the exponent of
 * the last. In linear time, because a number can be as long as a message.
 */
function normalize(text: string): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  const digits = integer + fraction;
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  const scale = Number(exponent) - fraction.length + (digits.length - end);
  return `${sign}${digits.slice(start, end)}e${scale}`;
}

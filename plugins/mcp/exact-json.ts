/** A JSON value with its original text. */
export type ExactValue =
  | { readonly kind: 'object'; readonly text: string; readonly members: ExactMembers }
  | { readonly kind: 'array'; readonly text: string; readonly items: readonly ExactValue[] }
  | { readonly kind: 'string'; readonly text: string; readonly value: string }
  | { readonly kind: 'number' | 'boolean' | 'null'; readonly text: string };

type ExactMembers = ReadonlyMap<string, ExactValue>;

/** The reason why a valid JSON text is rejected; the message continues `the arguments have `. */
export class InexactJson extends Error {
  override readonly name = 'InexactJson';
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const SCALAR = /-?[0-9][0-9.eE+-]*|true|false|null/y;

/** Deeper than any tool needs, but safe for the stack. */
const MAX_DEPTH = 100;

/**
 * Parses a valid JSON text and keeps the text of each value.
 * @throws InexactJson for duplicate members, which a parser would merge, and for deep nesting.
 */
export function parseExact(text: string): ExactValue {
  return new Reader(text).read(0);
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(depth: number): ExactValue {
    if (depth > MAX_DEPTH) throw new InexactJson(`more than ${MAX_DEPTH} levels`);
    this.#match(SPACE);
    const value = this.#readValue(depth);
    this.#match(SPACE);
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
    const text = this.#match(STRING);
    return { kind: 'string', text, value: JSON.parse(text) };
  }

  #readMembers(depth: number): ExactMembers {
    const members = new Map<string, ExactValue>();
    this.#readList('}', () => {
      this.#match(SPACE);
      const { value: name } = this.#readString();
      if (members.has(name)) throw new InexactJson('two members of one name');
      this.#match(SPACE);
      this.#at += 1;
      members.set(name, this.read(depth + 1));
    });
    return members;
  }

  #readItems(depth: number): readonly ExactValue[] {
    const items: ExactValue[] = [];
    this.#readList(']', () => items.push(this.read(depth + 1)));
    return items;
  }

  /** Reads from the opening bracket to the end of the closing one. */
  #readList(end: string, readEntry: () => void): void {
    this.#at += 1;
    this.#match(SPACE);
    if (this.#text[this.#at] === end) {
      this.#at += 1;
      return;
    }
    do {
      readEntry();
      this.#at += 1;
    } while (this.#text[this.#at - 1] === ',');
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0];
    if (text === undefined) throw new InexactJson('a part that is not JSON');
    this.#at += text.length;
    return text;
  }
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

/** The text of the last member with this name in a valid JSON object; `null` without one. */
export function sliceMember(text: string, name: string): string | null {
  const tokens = text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g);
  const quoted = JSON.stringify(name);
  let [depth, key, start, slice]: [number, string, number, string | null] = [0, '', -1, null];
  for (const { 0: token, index } of tokens) {
    if (token === '{' || token === '[') depth += 1;
    else if (depth === 1 && start === -1 && token === ':') start = index + 1;
    else if (depth === 1 && (token === ',' || token === '}')) {
      if (key === quoted && start !== -1) slice = text.slice(start, index).trim();
      start = -1;
      if (token === '}') depth -= 1;
    } else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && start === -1) key = token;
  }
  return slice;
}

function survivesParse(text: string): boolean {
  if (/^-?[0-9]{1,15}$/.test(text)) return true;
  return Number.isFinite(Number(text)) && normalize(text) === normalize(String(Number(text)));
}

const DECIMAL = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/**
 * Normalizes a decimal value: sign, digits without zeros at either end, and the exponent of the
 * last.
 */
function normalize(text: string): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  const digits = (integer + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const scale =
    BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${scale}`;
}

import { CLASS_ESCAPES, translateProperty } from './pattern-sets.js';

/** The message continues the name of the pattern. */
export class UntranslatablePattern extends Error {
  override readonly name = 'UntranslatablePattern';
}

interface Quantifier {
  /** The text as in the pattern, without the mark of a lazy one, which does not change whether it matches. */
  readonly text: string;
  readonly min: number;
  /** `null` for no limit. */
  readonly max: number | null;
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y;
const GROUP_NAME = /\?<(?![=!])[^>]*>/y;
const PROPERTY = /\\([pP])\{([^}]*)\}/y;
const HEX_ESCAPE = /\\(?:x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4}))/y;
const TRAIL_ESCAPE = /\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})/y;
const CONTROL_ESCAPE = /\\c([A-Za-z])/y;
const CONTROL_MASK = 0x1f;
const BACKSPACE = 0x08;
const NAMED: Readonly<Record<string, number>> = { f: 12, n: 10, r: 13, t: 9, v: 11, 0: 0 };

/** Reads a valid pattern of ECMA-262 with the flag `u`, part by part. */
export class PatternReader {
  readonly #text: string;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#text.length;
  }

  /** Skips the text if it comes next. */
  skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#offset)) return false;
    this.#offset += text.length;
    return true;
  }

  /** Reads the rest of the head of a group after the opening parenthesis. */
  skipGroupHead(): void {
    if (this.skip('?:') || this.#match(GROUP_NAME) !== null || !this.#startsWith('?')) return;
    throw new UntranslatablePattern('looks ahead or behind, or has flags, which RE2 does not');
  }

  readQuantifier(): Quantifier | null {
    const match = this.#match(QUANTIFIER);
    if (match === null) return null;
    const [whole, min, comma, max] = match;
    const text = whole.endsWith('?') && whole.length > 1 ? whole.slice(0, -1) : whole;
    if (min === undefined) return { text, min: 1, max: null };
    if (comma === undefined) return { text, min: Number(min), max: Number(min) };
    return { text, min: Number(min), max: max === '' ? null : Number(max) };
  }

  /**
   * Reads the content of a class for `\d`, `\p{…}` and the like; returns `null` if none is next.
   */
  readSet(): string | null {
    const property = this.#match(PROPERTY);
    if (property !== null) {
      const set = translateProperty(property[2] ?? '', property[1] === 'P');
      if (set === null) throw new UntranslatablePattern('names a property that RE2 does not know');
      return set;
    }
    const set = this.#startsWith('\\')
      ? CLASS_ESCAPES[this.#text[this.#offset + 1] ?? '']
      : undefined;
    if (set === undefined || this.#startsWith('\\.')) return null;
    this.#offset += 2;
    return set;
  }

  /** Within a class, `\b` is a backspace and `\-` a hyphen. */
  readClassCodePoint(): number {
    return this.skip('\\b') ? BACKSPACE : this.readCodePoint();
  }

  /** Whether a hyphen comes next that belongs to a range. */
  isRange(): boolean {
    return this.#startsWith('-') && this.#text[this.#offset + 1] !== ']';
  }

  readCodePoint(): number {
    const codePoint = this.#startsWith('\\') ? this.#readEscape() : this.#readLiteral();
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) {
      throw new UntranslatablePattern('names half of a surrogate pair, which is not a character');
    }
    return codePoint;
  }

  #readLiteral(): number {
    const codePoint = this.#text.codePointAt(this.#offset) ?? 0;
    this.#offset += codePoint > 0xffff ? 2 : 1;
    return codePoint;
  }

  #readEscape(): number {
    const hex = this.#match(HEX_ESCAPE);
    if (hex !== null)
      return this.#joinSurrogates(Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? '', 16));
    const control = this.#match(CONTROL_ESCAPE);
    if (control !== null) return (control[1] ?? '').charCodeAt(0) & CONTROL_MASK;
    const letter = this.#text[this.#offset + 1] ?? '';
    if (/[1-9k]/.test(letter)) {
      throw new UntranslatablePattern('refers back to a group, which RE2 does not');
    }
    this.#offset += 1;
    const controlEscape = NAMED[letter];
    if (controlEscape === undefined) return this.#readLiteral();
    this.#offset += 1;
    return controlEscape;
  }

  #joinSurrogates(lead: number): number {
    if (lead < 0xd800 || lead > 0xdbff) return lead;
    const trail = this.#match(TRAIL_ESCAPE);
    if (trail === null) return lead;
    const low = Number.parseInt(trail[1] ?? '', 16);
    return 0x10000 + (lead - 0xd800) * 0x400 + (low - 0xdc00);
  }

  #startsWith(text: string): boolean {
    return this.#text.startsWith(text, this.#offset);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#offset;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#offset = pattern.lastIndex;
    return match;
  }
}

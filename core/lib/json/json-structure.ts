import { skipMark } from '../byte-order-mark.js';
import { measureJson } from './json-check.js';

/** A place that a JavaScript value cannot represent, or that is nested too deeply. */
interface StructureProblem {
  readonly path: readonly (string | number)[];
  readonly problem: 'repeated' | 'too deep';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const LETTER_U = 0x75;
const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;
/** `\u0061` */
const ESCAPE_BYTES = 6;

/** The number of members of all objects in a parsed value: repeated members count once. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) {
    let count = 0;
    for (const item of value) count += countMembers(item);
    return count;
  }
  const keys = Object.keys(value);
  let count = keys.length;
  for (const key of keys) count += countMembers((value as Record<string, unknown>)[key]);
  return count;
}

interface ParsedJson {
  /** `undefined` if there are problems. */
  readonly value: unknown;
  readonly problems: readonly StructureProblem[];
}

/**
 * Parses valid JSON in UTF-8, and finds repeated members and deep nesting. Only bytes with a
 * problem are scanned for its place.
 */
export function parseStrictJson(json: Buffer, maxDepth: number, maxProblems: number): ParsedJson {
  const { depth, members } = measureJson(json);
  if (depth <= maxDepth) {
    const value: unknown = JSON.parse(skipMark(json).toString('utf8'));
    if (countMembers(value) === members) return { value, problems: [] };
  }
  return { value: undefined, problems: scanStructure(json, maxDepth, maxProblems) };
}

/**
 * The path of the first repeated member, at any depth; `null` without one. The bytes must be valid
 * JSON.
 * @param value what JSON.parse returns for them
 */
export function findRepeatedMember(
  json: Buffer,
  value: unknown,
): readonly (string | number)[] | null {
  if (countMembers(value) === measureJson(json).members) return null;
  return scanStructure(json, Number.POSITIVE_INFINITY, 1)[0]?.path ?? null;
}

interface Level {
  /** The names so far; `null` for an array. */
  readonly names: Set<string> | null;
  /** The current name or index. */
  key: string | number;
  isName: boolean;
}

function scanStructure(json: Buffer, maxDepth: number, maxProblems: number): StructureProblem[] {
  const problems: StructureProblem[] = [];
  const levels: Level[] = [];
  let skipped = 0;
  const report = (problem: StructureProblem['problem']) => {
    problems.push({ path: levels.map(({ key }) => key), problem });
  };
  for (let offset = 0; offset < json.length && problems.length < maxProblems; offset += 1) {
    const byte = json[offset] as number;
    const level = levels.at(-1);
    if (byte === QUOTE) {
      const end = findEndOfString(json, offset);
      if (skipped === 0 && level?.names && level.isName) {
        level.key = JSON.parse(json.toString('utf8', offset, end + 1)) as string;
        if (level.names.has(level.key)) report('repeated');
        level.names.add(level.key);
      }
      offset = end;
    } else if (isOpening(byte)) {
      if (levels.length === maxDepth) {
        if (skipped === 0) report('too deep');
        skipped += 1;
      } else {
        const isObject = byte === OPEN_OBJECT;
        levels.push({ names: isObject ? new Set() : null, key: 0, isName: isObject });
      }
    } else if (isClosing(byte)) {
      if (skipped > 0) skipped -= 1;
      else levels.pop();
    } else if (level !== undefined && skipped === 0) {
      if (byte === COLON) level.isName = false;
      else if (byte === COMMA && level.names !== null) level.isName = true;
      else if (byte === COMMA) level.key = Number(level.key) + 1;
    }
  }
  return problems;
}

/** The index of the closing quote. */
function findEndOfString(json: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== QUOTE) index += json[index] === BACKSLASH ? 2 : 1;
  return index;
}

/**
 * The unchanged bytes of a member of an object; of repeated ones the last, like JSON.parse. The bytes
 * must be valid JSON; values that are no object have no members.
 * @param name ASCII characters that only `\u` can escape
 */
export function sliceMember(json: Buffer, name: string): Buffer | null {
  let member: Buffer | null = null;
  visitMembers(json, (nameStart, start, end) => {
    if (json[skipText(json, nameStart, name)] === QUOTE) member = trim(json.subarray(start, end));
  });
  return member;
}

/**
 * Whether an object has a member whose name begins with a text.
 * @param prefix as the name of `sliceMember`
 */
export function hasMember(json: Buffer, prefix: string): boolean {
  let isFound = false;
  visitMembers(json, (nameStart) => {
    isFound ||= skipText(json, nameStart, prefix) !== -1;
  });
  return isFound;
}

const ARRAY_INDEX = /^(?:0|[1-9]\d{0,8})$/;
/** Characters that only `\u` can escape. */
const PLAIN_NAME = /^[\w .$-]*$/;

/**
 * The unchanged bytes of a member or of an item of an array; `null` where there is nothing. The last
 * of repeated members counts, as in JSON.parse. The bytes must be valid JSON without space around it.
 */
export function sliceEntry(json: Buffer, key: string): Buffer | null {
  if (json[0] === OPEN_ARRAY) return sliceItem(json, key);
  return PLAIN_NAME.test(key) ? sliceMember(json, key) : sliceNamed(json, key);
}

function sliceNamed(json: Buffer, name: string): Buffer | null {
  const plain = Buffer.from(name);
  let member: Buffer | null = null;
  visitMembers(json, (nameStart, start, end) => {
    const nameEnd = findEndOfString(json, nameStart - 1);
    const written = json.subarray(nameStart, nameEnd);
    const isNamed = written.includes(BACKSLASH)
      ? JSON.parse(json.toString('utf8', nameStart - 1, nameEnd + 1)) === name
      : written.equals(plain);
    if (isNamed) member = trim(json.subarray(start, end));
  });
  return member;
}

function sliceItem(json: Buffer, key: string): Buffer | null {
  if (!ARRAY_INDEX.test(key)) return null;
  let left = Number(key);
  let start = 1;
  let depth = 1;
  for (let index = 1; index < json.length; index += 1) {
    const byte = json[index] as number;
    if (byte === QUOTE) index = findEndOfString(json, index);
    else if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) depth -= 1;
    const isEnd = depth === 0 || (depth === 1 && byte === COMMA);
    if (isEnd && left === 0) {
      const item = trim(json.subarray(start, index));
      return item.length === 0 ? null : item;
    }
    if (isEnd) {
      left -= 1;
      start = index + 1;
    }
  }
  return null;
}

/** Decodes and keeps nothing: a provider chooses the number of members. */
function visitMembers(
  json: Buffer,
  visit: (nameStart: number, start: number, end: number) => void,
): void {
  let depth = 0;
  let nameStart = -1;
  let valueStart = -1;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] as number;
    if (byte === QUOTE) {
      if (depth === 1 && valueStart === -1) nameStart = index + 1;
      index = findEndOfString(json, index);
    } else if (depth === 1 && byte === COLON && valueStart === -1) {
      valueStart = index + 1;
    } else if (depth === 1 && valueStart !== -1 && (byte === COMMA || isClosing(byte))) {
      visit(nameStart, valueStart, index);
      valueStart = -1;
      if (isClosing(byte)) depth -= 1;
    } else if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) depth -= 1;
  }
}

/** The index after a text in a string, whose characters may be escaped; -1 for another text. */
function skipText(json: Buffer, start: number, text: string): number {
  let index = start;
  for (let at = 0; at < text.length; at += 1) {
    const isEscape = json[index] === BACKSLASH && json[index + 1] === LETTER_U;
    const code = isEscape ? readCode(json, index + 2) : json[index];
    if (code !== text.charCodeAt(at)) return -1;
    index += isEscape ? ESCAPE_BYTES : 1;
  }
  return index;
}

/** The value of four hexadecimal digits. */
function readCode(json: Buffer, start: number): number {
  let code = 0;
  for (let index = start; index < start + 4; index += 1) {
    const digit = json[index] as number;
    code = code * 16 + (digit <= DIGIT_NINE ? digit - DIGIT_ZERO : (digit & 0xf) + 9);
  }
  return code;
}

function isOpening(byte: number): boolean {
  return byte === OPEN_ARRAY || byte === OPEN_OBJECT;
}

function isClosing(byte: number): boolean {
  return byte === CLOSE_ARRAY || byte === CLOSE_OBJECT;
}

function trim(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start])) start += 1;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}

/** A blank, tab, line feed or carriage return. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

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
    const value: unknown = JSON.parse(json.toString('utf8'));
    if (countMembers(value) === members) return { value, problems: [] };
  }
  return { value: undefined, problems: scanStructure(json, maxDepth, maxProblems) };
}

/**
 * The path of the first repeated member, at any depth; `null` without one. The bytes must be valid
 * JSON.
 */
export function findRepeatedMember(json: Buffer): readonly (string | number)[] | null {
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
 * The unchanged bytes of each member of an object, by decoded name; for duplicates the last one,
 * like JSON.parse. The bytes must be a valid JSON object.
 */
export function sliceMembers(json: Buffer): Map<string, Buffer> {
  const members = new Map<string, Buffer>();
  let depth = 0;
  let nameStart = -1;
  let name = '';
  let valueStart = -1;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] as number;
    if (byte === QUOTE) {
      if (depth === 1 && valueStart === -1) nameStart = index;
      index = findEndOfString(json, index);
    } else if (depth === 1 && byte === COLON && valueStart === -1) {
      name = JSON.parse(json.toString('utf8', nameStart, index)) as string;
      valueStart = index + 1;
    } else if (depth === 1 && valueStart !== -1 && (byte === COMMA || isClosing(byte))) {
      members.set(name, trim(json.subarray(valueStart, index)));
      valueStart = -1;
      if (isClosing(byte)) depth -= 1;
    } else if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) depth -= 1;
  }
  return members;
}

function isOpening(byte: number): boolean {
  return byte === OPEN_ARRAY || byte === OPEN_OBJECT;
}

function isClosing(byte: number): boolean {
  return byte === CLOSE_ARRAY || byte === CLOSE_OBJECT;
}

function trim(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').trim(), 'latin1');
}

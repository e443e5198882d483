const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACE = 0x7b;
const OPENING = new Set([0x5b, OPENING_BRACE]);
const CLOSING = new Set([0x5d, 0x7d]);

/** The nesting depth of arrays and objects, in bytes that are known to be JSON. */
export function measureDepth(json: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] as number;
    if (byte === QUOTE) index = skipString(json, index);
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/**
 * The unchanged bytes of each member of an object, by decoded name; of duplicates the last, like JSON.parse.
 * The bytes must be known to be a JSON object.
 */
export function sliceMembers(json: Buffer): Map<string, Buffer> {
  return new Map(listMembers(json));
}

/** All members in order, including duplicates. */
function listMembers(json: Buffer): (readonly [name: string, value: Buffer])[] {
  const members: (readonly [name: string, value: Buffer])[] = [];
  let depth = 0;
  let nameStart = -1;
  let name = '';
  let valueStart = -1;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] as number;
    if (byte === QUOTE) {
      if (depth === 1 && valueStart === -1) nameStart = index;
      index = skipString(json, index);
    } else if (depth === 1 && byte === COLON && valueStart === -1) {
      name = JSON.parse(json.toString('utf8', nameStart, index)) as string;
      valueStart = index + 1;
    } else if (depth === 1 && valueStart !== -1 && (byte === COMMA || CLOSING.has(byte))) {
      members.push([name, trim(json.subarray(valueStart, index))]);
      valueStart = -1;
      if (CLOSING.has(byte)) depth -= 1;
    } else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
  }
  return members;
}

interface OpenContainer {
  /** Names of the object so far; `null` in an array. */
  readonly names: Set<string> | null;
  /** The current member or index. */
  key: string | number;
  isNameNext: boolean;
}

/**
 * The path of the first member whose object has its name already, at any depth; `null` if there is none. The
 * bytes must be known to be JSON.
 */
export function findRepeatedMember(json: Buffer): (string | number)[] | null {
  const open: OpenContainer[] = [];
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] as number;
    const inner = open.at(-1);
    if (byte === QUOTE) {
      const start = index;
      index = skipString(json, start);
      if (!inner?.names || !inner.isNameNext) continue;
      inner.key = JSON.parse(json.toString('utf8', start, index + 1)) as string;
      inner.isNameNext = false;
      if (inner.names.has(inner.key)) return open.map(({ key }) => key);
      inner.names.add(inner.key);
    } else if (OPENING.has(byte)) {
      const isObject = byte === OPENING_BRACE;
      open.push({ names: isObject ? new Set() : null, key: 0, isNameNext: isObject });
    } else if (CLOSING.has(byte)) open.pop();
    else if (byte === COMMA && inner?.names) inner.isNameNext = true;
    else if (byte === COMMA && inner) inner.key = Number(inner.key) + 1;
  }
  return null;
}

/** The index of the closing quote. */
function skipString(json: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== QUOTE) index += json[index] === BACKSLASH ? 2 : 1;
  return index;
}

function trim(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').trim(), 'latin1');
}

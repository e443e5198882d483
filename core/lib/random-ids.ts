import { randomFillSync } from 'node:crypto';

/** Generated in advance: a call of the generator costs more than the bytes. */
const POOL_BYTES = 4096;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Random bytes of cryptographic strength as lower-case hex digits.
 * @param bytes at most 4096
 */
export function randomHex(bytes: number): string {
  const start = draw(bytes);
  return pool.toString('hex', start, start + bytes);
}

const UUID_BYTES = 16;
const DIGITS = Buffer.from('0123456789abcdef');
/** The bytes before which a dash stands. */
const GROUPS: ReadonlySet<number> = new Set([4, 6, 8, 10]);
const uuid = Buffer.alloc(36, '-');

/**
 * A random UUID, version 4 (RFC 9562). That of Node.js is a tree of twenty strings, which live as
 * long as a call or its stream.
 */
export function createUuid(): string {
  const start = draw(UUID_BYTES);
  pool[start + 6] = ((pool[start + 6] ?? 0) & 0x0f) | 0x40;
  pool[start + 8] = ((pool[start + 8] ?? 0) & 0x3f) | 0x80;
  let at = 0;
  for (let index = 0; index < UUID_BYTES; index += 1) {
    if (GROUPS.has(index)) at += 1;
    const byte = pool[start + index] ?? 0;
    uuid[at] = DIGITS[byte >> 4] ?? 0;
    uuid[at + 1] = DIGITS[byte & 0x0f] ?? 0;
    at += 2;
  }
  return uuid.toString('latin1');
}

/** @returns the position of unused bytes */
function draw(bytes: number): number {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return used - bytes;
}

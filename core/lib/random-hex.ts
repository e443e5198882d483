import { randomFillSync } from 'node:crypto';

/** Drawn at once: a call of the generator costs more than the bytes. */
const POOL_BYTES = 4096;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Random bytes of cryptographic strength as lower-case hex digits.
 * @param bytes at most 4096
 */
export function randomHex(bytes: number): string {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}

import { randomFillSync } from 'node:crypto';

// One call of the system's secure source serves many ids: each of them would cost a system call.
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Lower case, two digits a byte. */
export function randomHex(bytes: number): string {
  const start = take(bytes);
  return pool.toString('hex', start, start + bytes);
}

export function randomByte(): number {
  return pool[take(1)] ?? 0;
}

function take(bytes: number): number {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return used - bytes;
}

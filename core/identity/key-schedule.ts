import type { KeptKey } from './identity-key.js';

/** Milliseconds. */
export interface RotationTimes {
  /** From one key to the next. */
  readonly periodMs: number;
  /** A new key is published for so long before it signs: providers keep what they have read. */
  readonly aheadMs: number;
  /** An old key stays published for so long after it has signed for the last time. */
  readonly overlapMs: number;
}

/** The newest that has been published for long enough, else the oldest: the first key signs at once. */
export function chooseSigningKey(
  keys: readonly KeptKey[],
  { aheadMs }: RotationTimes,
  now: number,
): KeptKey | null {
  const [first = null, ...later] = sortByAge(keys);
  return later.findLast(({ createdAt }) => createdAt + aheadMs <= now) ?? first;
}

/** Whether it is time to make the key that is to follow. */
export function needsNewKey(
  keys: readonly KeptKey[],
  { periodMs, aheadMs }: RotationTimes,
  now: number,
): boolean {
  const newest = sortByAge(keys).at(-1);
  return newest === undefined || newest.createdAt + periodMs - aheadMs <= now;
}

/** Without those whose follower has signed for the time of the overlap. */
export function dropRetired(
  keys: readonly KeptKey[],
  { aheadMs, overlapMs }: RotationTimes,
  now: number,
): readonly KeptKey[] {
  const sorted = sortByAge(keys);
  return sorted.filter((_, index) => {
    const follower = sorted[index + 1];
    return follower === undefined || now < follower.createdAt + aheadMs + overlapMs;
  });
}

function sortByAge(keys: readonly KeptKey[]): KeptKey[] {
  return keys.toSorted((a, b) => a.createdAt - b.createdAt);
}

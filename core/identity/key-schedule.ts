import type { StoredKey } from './identity-key.js';

/** Milliseconds. */
export interface RotationTimes {
  /** From one key to the next. */
  readonly periodMs: number;
  /** How long a new key is published before it signs: providers cache key sets. */
  readonly aheadMs: number;
  /** How long an old key stays published after it signed last. */
  readonly overlapMs: number;
}

/** The newest key that has been published long enough, otherwise the oldest: the first key signs at once. */
export function chooseSigningKey(
  keys: readonly StoredKey[],
  { aheadMs }: RotationTimes,
  now: number,
): StoredKey | null {
  const [first = null, ...later] = sortByAge(keys);
  return later.findLast(({ createdAt }) => createdAt + aheadMs <= now) ?? first;
}

/** Whether it is time to create the next key. */
export function needsNewKey(
  keys: readonly StoredKey[],
  { periodMs, aheadMs }: RotationTimes,
  now: number,
): boolean {
  const newest = sortByAge(keys).at(-1);
  return newest === undefined || newest.createdAt + periodMs - aheadMs <= now;
}

/** Removes keys whose successor has been signing for longer than the overlap. */
export function dropRetired(
  keys: readonly StoredKey[],
  { aheadMs, overlapMs }: RotationTimes,
  now: number,
): readonly StoredKey[] {
  const sorted = sortByAge(keys);
  return sorted.filter((_, index) => {
    const successor = sorted[index + 1];
    return successor === undefined || now < successor.createdAt + aheadMs + overlapMs;
  });
}

function sortByAge(keys: readonly StoredKey[]): StoredKey[] {
  return keys.toSorted((a, b) => a.createdAt - b.createdAt);
}

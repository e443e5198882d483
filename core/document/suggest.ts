import { closest, distance } from 'fastest-levenshtein';

/** Returns the known name that was probably intended, ignoring case; `null` if none is similar. */
export function findNearestName(name: string, known: readonly string[]): string | null {
  // If more than half of the longer name differs, the words are unrelated.
  const similar = known.filter(({ length }) => {
    return Math.max(length, name.length) <= 2 * Math.min(length, name.length);
  });
  if (similar.length === 0) return null;
  const plain = similar.map((one) => one.toLowerCase());
  const nearest = closest(name.toLowerCase(), plain);
  const longer = Math.max(name.length, nearest.length);
  if (distance(name.toLowerCase(), nearest) * 2 > longer) return null;
  return similar[plain.indexOf(nearest)] ?? null;
}

/** `did you mean 'retry'?`, otherwise the list of known names. */
export function suggestName(name: string, known: readonly string[]): string | null {
  if (known.length === 0) return null;
  const nearest = findNearestName(name, known);
  if (nearest !== null) return `did you mean '${nearest}'?`;
  return `known here: ${known.join(', ')}`;
}

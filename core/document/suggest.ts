import { closest, distance } from 'fastest-levenshtein';

/** Returns the candidate that was probably intended, ignoring case; `null` if none is similar. */
export function findNearestName(name: string, candidates: readonly string[]): string | null {
  if (candidates.length === 0) return null;
  const plain = candidates.map((candidate) => candidate.toLowerCase());
  const nearest = closest(name.toLowerCase(), plain);
  // If more than half of the longer name differs, the words are unrelated.
  const longer = Math.max(name.length, nearest.length);
  if (distance(name.toLowerCase(), nearest) * 2 > longer) return null;
  return candidates[plain.indexOf(nearest)] ?? null;
}

/** `did you mean 'retry'?`, otherwise the list of candidates. */
export function suggestName(name: string, candidates: readonly string[]): string | null {
  if (candidates.length === 0) return null;
  const nearest = findNearestName(name, candidates);
  if (nearest !== null) return `did you mean '${nearest}'?`;
  return `known here: ${candidates.join(', ')}`;
}

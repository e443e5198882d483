import { closest, distance } from 'fastest-levenshtein';

/** The candidate that a slip of the pen may have meant, whatever its case; `null` when none is near. */
export function findNearestName(name: string, candidates: readonly string[]): string | null {
  if (candidates.length === 0) return null;
  const plain = candidates.map((candidate) => candidate.toLowerCase());
  const nearest = closest(name.toLowerCase(), plain);
  // Half the longer name or more to change is another word, not a slip.
  const longer = Math.max(name.length, nearest.length);
  if (distance(name.toLowerCase(), nearest) * 2 > longer) return null;
  return candidates[plain.indexOf(nearest)] ?? null;
}

/** `did you mean 'retry'?`, else the list of what is known. */
export function suggestName(name: string, candidates: readonly string[]): string | null {
  if (candidates.length === 0) return null;
  const nearest = findNearestName(name, candidates);
  if (nearest !== null) return `did you mean '${nearest}'?`;
  return `known here: ${candidates.join(', ')}`;
}

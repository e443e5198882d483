const MIN_SIMILARITY = 0.4;
/** Names whose similarity is below this share of the highest one are left out. */
const MIN_SHARE = 0.9;
const MAX_NAMES = 3;
/** The maximum number of names that are compared, which takes a few milliseconds. */
const MAX_COMPARED = 2000;

/** The names that were probably intended, the most similar first: `getItem` for `get_item`. */
export function findNearestNames(wanted: string, known: readonly string[]): string[] {
  const pairs = listPairs(wanted);
  const ranked = known
    .slice(0, MAX_COMPARED)
    .map((name) => ({ name, similarity: compare(pairs, listPairs(name)) }))
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, MAX_NAMES);
  const least = Math.max(MIN_SIMILARITY, MIN_SHARE * (ranked[0]?.similarity ?? 0));
  return ranked.filter(({ similarity }) => similarity >= least).map(({ name }) => name);
}

/** `did you mean 'a' or 'b'?`; `null` for no names. */
export function askFor(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  return `did you mean ${names.map((name) => `'${name}'`).join(' or ')}?`;
}

/** The pairs of characters, without case, separators and the end of a plural. */
function listPairs(name: string): ReadonlySet<string> {
  const text = name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const padded = ` ${text}`;
  return new Set(Array.from(padded.slice(1), (character, index) => padded[index] + character));
}

/** Twice the number of shared pairs in relation to all pairs. */
function compare(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared += 1;
  return (2 * shared) / (a.size + b.size || 1);
}

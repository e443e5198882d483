/** The index of the first text that stands in the list before, `null` where all differ. */
export function findRepeated(texts: readonly string[]): number | null {
  const seen = new Set<string>();
  const index = texts.findIndex((text) => seen.size === seen.add(text).size);
  return index === -1 ? null : index;
}

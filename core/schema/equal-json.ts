/**
 * Whether two JSON values are equal; the order of members does not matter.
 * @param onCompare called for each pair of values
 */
export function equalJson(a: unknown, b: unknown, onCompare: () => void = () => {}): boolean {
  onCompare();
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equalJson(item, b[index], onCompare));
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      equalJson(
        (a as Record<string, unknown>)[key],
        (b as Record<string, unknown>)[key],
        onCompare,
      ),
  );
}

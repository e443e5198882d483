const keptTexts = new WeakMap<object, string>();

/** Keeps the canonical form of a frozen value that thousands of values contain. */
export function keepCanonicalText(frozen: object): void {
  keptTexts.set(frozen, canonicalizeValue(frozen));
}

/**
 * Returns the canonical form (RFC 8785) of a value as JSON.stringify writes it, with `null` for
 * numbers beyond a double. Concatenated text is copied once at the end, so that depth does not count.
 */
export function canonicalizeValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const kept = keptTexts.get(value);
  if (kept !== undefined) return kept;
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return canonicalizeValue(value.toJSON());
  }
  let text = '';
  let separator = '';
  if (Array.isArray(value)) {
    for (const item of value) {
      text += separator + canonicalizeValue(item);
      separator = ',';
    }
    return `[${text}]`;
  }
  for (const name of Object.keys(value).sort()) {
    const member: unknown = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    text += `${separator}${JSON.stringify(name)}:${canonicalizeValue(member)}`;
    separator = ',';
  }
  return `{${text}}`;
}

/** Whether two values have the same canonical form; `undefined` has none, and equals only itself. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return canonicalizeValue({ value: a }) === canonicalizeValue({ value: b });
}

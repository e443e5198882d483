/** Blanks that YAML takes as text, and characters without a width: pages and chats contain them. */
const INVISIBLE = /[\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]/;
const TYPOGRAPHIC_QUOTE = /[\u2018-\u201f]/;

/** Explains characters that look like others, which text copied from elsewhere may contain. */
export function hintAtCharacters(text: string): string | null {
  const hint = hintAtInvisible(text);
  if (hint !== null) return hint;
  return TYPOGRAPHIC_QUOTE.test(text) ? `write straight quotes: " or '` : null;
}

export function hintAtInvisible(text: string): string | null {
  return INVISIBLE.test(text) ? 'it has an invisible character: type it anew' : null;
}

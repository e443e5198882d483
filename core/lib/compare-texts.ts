/** The order of code units, which does not depend on a locale. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

export function compareNames(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareTexts(a.name, b.name);
}

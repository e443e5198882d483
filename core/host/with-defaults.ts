type Numbers<Key extends string> = Readonly<Record<Key, number>>;

/** A table of defaults with what was given put over it. */
export function withDefaults<Key extends string>(
  defaults: Numbers<Key>,
  given: { readonly [Member in Key]?: number | undefined } | undefined,
): Numbers<Key> {
  const keys = Object.keys(defaults) as Key[];
  const filled = keys.map((key) => [key, given?.[key] ?? defaults[key]]);
  return Object.fromEntries(filled) as Numbers<Key>;
}

/** A place in a JSON document, from its root. */
export type JsonPath = readonly (string | number)[];

/** Formats `/items/0/a~1b`; the empty text is the whole document. */
export function formatPointer(path: JsonPath): string {
  return path.map((key) => `/${escapeStep(String(key))}`).join('');
}

export function escapeStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The path of a pointer; items are named by their index as text. */
export function parsePointer(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeStep);
}

/** The path of a reference `#` or `#/…`; `null` for any other reference. */
export function parseReference(reference: string): string[] | null {
  if (reference === '#') return [];
  if (!reference.startsWith('#/')) return null;
  try {
    const pointer = decodeURIComponent(reference.slice(1));
    return /~(?![01])/.test(pointer) ? null : parsePointer(pointer);
  } catch {
    return null;
  }
}

/** The value at a path, with numbers as indexes of items; `null` without one. */
export function findAtPath(
  root: unknown,
  path: readonly string[],
): { readonly value: unknown; readonly path: JsonPath } | null {
  let value = root;
  const foundPath: (string | number)[] = [];
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(key)) return null;
    foundPath.push(Array.isArray(value) ? Number(key) : key);
    value = (value as Record<string, unknown>)[key];
  }
  return { value, path: foundPath };
}

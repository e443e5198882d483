const ARRAY_INDEX = /^(?:0|[1-9]\d{0,8})$/;

/** `selected_user.roles.0.id` in plain JSON data; `undefined` where it leads nowhere. Own members only. */
export function readDottedPath(value: unknown, path: string): unknown {
  let current = value;
  for (const part of path.split('.')) {
    if (typeof current !== 'object' || current === null) return undefined;
    if (Array.isArray(current) && !ARRAY_INDEX.test(part)) return undefined;
    if (!Object.hasOwn(current, part)) return undefined;
    current = Reflect.get(current, part);
  }
  return current;
}

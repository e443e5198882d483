import { describePath, type Path, type Violation } from '../document/diagnostic.js';

/** Creates a violation at the value of a path; the message continues the name of the path. */
export function violationAt(
  path: Path,
  rule: string,
  rest: string,
  hint: string | null = null,
): Violation {
  return { rule, message: `${describePath(path)} ${rest}`, hint, path, at: 'value' };
}

/** Creates a violation for each item with the key of an earlier one. */
export function findDuplicates<T>(
  items: readonly T[],
  path: Path,
  readKey: (item: T) => string,
  member: string,
): Violation[] {
  const first = new Map<string, number>();
  return items.flatMap((item, index) => {
    const key = readKey(item);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, index);
      return [];
    }
    const other = describePath([...path, earlier, ...memberPath(member)]);
    return [
      violationAt([...path, index, ...memberPath(member)], 'duplicate-name', `repeats ${other}`),
    ];
  });
}

function memberPath(member: string): string[] {
  return member === '' ? [] : [member];
}

export function nameOf({ name }: { readonly name: string }): string {
  return name;
}

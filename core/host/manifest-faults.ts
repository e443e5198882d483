import type { Fault, Path } from '../document/diagnostic.js';
import { describePath } from '../document/diagnostic.js';

/** A fault of a manifest at the value of a path; the message reads on after the path's name. */
export function faultAt(path: Path, rule: string, rest: string, hint: string | null = null): Fault {
  return { rule, message: `${describePath(path)} ${rest}`, hint, path, at: 'value' };
}

/** Faults for all but the first of those with one key. */
export function findDuplicates<T>(
  items: readonly T[],
  path: Path,
  readKey: (item: T) => string,
  member: string,
): Fault[] {
  const first = new Map<string, number>();
  return items.flatMap((item, index) => {
    const key = readKey(item);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, index);
      return [];
    }
    const other = describePath([...path, earlier, ...memberPath(member)]);
    return [faultAt([...path, index, ...memberPath(member)], 'duplicate-name', `repeats ${other}`)];
  });
}

function memberPath(member: string): string[] {
  return member === '' ? [] : [member];
}

import { escapeStep } from '../../lib/json/json-pointer.js';

/** The member of the root that has the other documents to which a document refers, by location. */
export const REFERRED = 'x-modgate-referred';

/** Formats a reference to a place in another document. */
export function formatReferred(location: string, pointer: string): string {
  return `#/${REFERRED}/${encodeURIComponent(escapeStep(location))}${pointer}`;
}

/** The location of the other document that a pointer leads to; `null` within the root. */
export function locationOf([member, location]: readonly string[]): string | null {
  return member === REFERRED && location !== undefined ? location : null;
}

/** The name of what a pointer leads to: its last key, or that of a file without its extension. */
export function nameOfTarget(keys: readonly string[]): string {
  const name = keys.at(-1) ?? '';
  if (locationOf(keys) === null || keys.length > 2) return name;
  return name
    .replace(/[?#].*$/, '')
    .replace(/^.*\//, '')
    .replace(/\.[^.]*$/, '');
}

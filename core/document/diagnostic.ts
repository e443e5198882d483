export type Path = readonly (string | number)[];

/** Which end of an entry a fault is shown at: its key (unknown, missing) or its value (all others). */
export type PathEnd = 'key' | 'value';

/** Something wrong in a document, before anybody knows in which file it stands. Never holds a value of it. */
export interface Fault {
  readonly rule: string;
  readonly message: string;
  readonly hint: string | null;
  readonly path: Path;
  readonly at: PathEnd;
  /** For `missing-key`: the key, which `path` cannot name since it is not there. */
  readonly missing?: string;
}

/** Faults told of one document: who has more is helped as well by the first ones. */
export const MAX_FAULTS = 100;

/** A name that may be printed: what is no plain word may be a secret that slipped into a key. */
const PRINTABLE_KEY = /^[A-Za-z0-9_.-]{1,64}$/;

export function isPrintableKey(key: string): boolean {
  return PRINTABLE_KEY.test(key);
}

/** `'limits.timeout_ms'`, `'http_routes[0].path'`, or `the document` for the root. */
export function describePath(path: Path): string {
  if (path.length === 0) return 'the document';
  const text = path
    .map((key) => {
      if (typeof key === 'number') return `[${key}]`;
      return isPrintableKey(key) ? `.${key}` : '.?';
    })
    .join('');
  return `'${text.replace(/^\./, '')}'`;
}

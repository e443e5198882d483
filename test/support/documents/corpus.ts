import { readFileSync } from 'node:fs';

// From dist/test/host: vectors are data and are not compiled.
const ROOT = new URL('../../../../', import.meta.url);

export interface GoodDocument {
  readonly name: string;
  readonly file: string;
  /** Lines. */
  readonly text: readonly string[];
  readonly warnings?: readonly ExpectedFinding[];
}

export interface BadDocument extends GoodDocument {
  /** Rejected only by the parser: a JSON Schema cannot express the rule. */
  readonly semantic?: boolean;
  readonly findings: readonly ExpectedFinding[];
}

interface ExpectedFinding {
  readonly rule: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
}

/** The vectors of `test/corpus/<path>.json`. */
export function readCorpus<T>(path: string): T {
  return readJson(`test/corpus/${path}.json`) as T;
}

/** A JSON file of the repository. */
function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, ROOT), 'utf8'));
}

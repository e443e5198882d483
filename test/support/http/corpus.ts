import { readFileSync } from 'node:fs';
import type { RawHeader } from '../../../core/selftest/raw-http.js';

// From dist/test/http: vectors are data and are not compiled.
const FOLDER = new URL('../../../../test/corpus/requests/', import.meta.url);

/** The vectors of `test/corpus/requests/<name>.json`. */
export function readCorpus<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as T;
}

/** A body of a request. */
export interface BodyVector {
  readonly title: string;
  readonly body: CorpusBytes;
}

/** A request with other headers. */
export interface HeaderVector {
  readonly title: string;
  readonly method: string;
  readonly headers: readonly RawHeader[];
  readonly body?: CorpusBytes;
  readonly framing?: 'length' | 'chunked';
  readonly status: number;
}

/**
 * Bytes in JSON: text (UTF-8), `{latin1}` (one character per byte), or `{parts}`, repeated text
 * for long values.
 */
export type CorpusBytes =
  | string
  | { readonly latin1: string }
  | { readonly parts: readonly (readonly [text: string, times: number])[] };

export function toBytes(bytes: CorpusBytes): Buffer {
  if (typeof bytes === 'string') return Buffer.from(bytes);
  if ('latin1' in bytes) return Buffer.from(bytes.latin1, 'latin1');
  return Buffer.from(bytes.parts.map(([text, times]) => text.repeat(times)).join(''));
}

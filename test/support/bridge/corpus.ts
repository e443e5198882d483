import { readFileSync } from 'node:fs';

// From dist/test/bridge: vectors are data and are not compiled.
const FOLDER = new URL('../../../../test/corpus/bridge/', import.meta.url);

/** The vectors of `test/corpus/bridge/<name>.json`. */
export function readBridgeCorpus<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as T;
}

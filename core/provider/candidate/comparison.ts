import {
  ComparisonTooCostly,
  compareJson,
  type Difference,
  findNoise,
} from '../../lib/json/compare-json.js';
import { ExactJson } from '../../lib/json/exact-json.js';
import { createIgnoredPlaces } from '../../lib/json/ignored-places.js';
import { createShowName } from './declared-names.js';

/** Bodies that are known to be JSON in UTF-8, and how they are compared. */
export interface ComparedBodies {
  readonly live: Uint8Array;
  readonly candidate: Uint8Array;
  /** Of the live provider to the same request; `null` for none. */
  readonly again: Uint8Array | null;
  /** JSON Pointers in which `*` stands for one step. */
  readonly ignore: readonly string[];
  /** Names of members that may be shown, beside plain identifiers. */
  readonly declared: readonly string[];
}

/** @returns `null` for bodies that take too long to compare */
export function compareBodies({
  live,
  candidate,
  again,
  ignore,
  declared,
}: ComparedBodies): readonly Difference[] | null {
  const json = new ExactJson();
  const showName = createShowName(new Set(declared));
  const options = { json, ignored: createIgnoredPlaces(ignore), showName };
  try {
    const value = parse(live, json);
    const noise = again === null ? null : findNoise(value, parse(again, json), options);
    return compareJson(value, parse(candidate, json), options, noise);
  } catch (error) {
    if (error instanceof ComparisonTooCostly) return null;
    throw error;
  }
}

/** Most bodies have no number that a double may not hold. */
const LONG_NUMBER = /\d[\d.]{15}|\d[eE]/;

function parse(bytes: Uint8Array, exact: ExactJson): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return LONG_NUMBER.test(text) ? exact.parse(text) : JSON.parse(text);
}

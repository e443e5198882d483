import {
  ComparisonTooCostly,
  compareJson,
  type Difference,
  findNoise,
} from '../../lib/json/compare-json.js';
import { ExactJson } from '../../lib/json/exact-json.js';
import { createIgnoredPlaces } from '../../lib/json/ignored-places.js';
import { createNameMask } from './declared-names.js';

/** Bodies in valid JSON, with the options of their comparison. */
export interface ComparedBodies {
  readonly live: Uint8Array;
  readonly candidate: Uint8Array;
  /** The repeated response of the live provider; `null` for none. */
  readonly repeated: Uint8Array | null;
  /** JSON Pointers in which `*` matches one step. */
  readonly ignore: readonly string[];
  /** Names of members that may be shown, besides plain identifiers. */
  readonly declared: readonly string[];
}

/** @returns `null` for bodies whose comparison takes too long */
export function compareBodies({
  live,
  candidate,
  repeated,
  ignore,
  declared,
}: ComparedBodies): readonly Difference[] | null {
  const json = new ExactJson();
  const showName = createNameMask(new Set(declared));
  const options = { json, ignored: createIgnoredPlaces(ignore), showName };
  try {
    const value = parse(live, json);
    const noise = repeated === null ? null : findNoise(value, parse(repeated, json), options);
    return compareJson(value, parse(candidate, json), options, noise);
  } catch (error) {
    if (error instanceof ComparisonTooCostly) return null;
    throw error;
  }
}

/** Most bodies have no number that exceeds a double. */
const LONG_NUMBER = /\d[\d.]{15}|\d[eE]/;

function parse(bytes: Uint8Array, exact: ExactJson): unknown {
  // The decoder ignores a byte-order mark.
  const text = new TextDecoder().decode(bytes);
  return LONG_NUMBER.test(text) ? exact.parse(text) : JSON.parse(text);
}

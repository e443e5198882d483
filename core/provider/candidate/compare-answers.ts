import { compareJson, type Difference, findNoise } from '../../lib/json/compare-json.js';
import { ExactJson } from '../../lib/json/exact-json.js';
import type { IgnoredPlaces } from '../../lib/json/ignored-places.js';
import { isJsonMediaType } from '../../lib/json/json-bytes.js';
import { findInvalidJson } from '../../lib/json/json-check.js';
import type { CheckedOutcome } from '../outcome.js';

/** A longer body is not compared. Bytes. */
export const MAX_COMPARED_BYTES = 262_144;

/** What is compared of a response. */
export interface HeldAnswer {
  readonly status: number;
  /** JSON in UTF-8; `null` for no body. */
  readonly json: Buffer | null;
}

/** Why a response cannot be compared. */
export type Incomparable = 'too long' | 'no JSON';

/** Reads a response that is held, or whose stream is then closed. */
export function readAnswer(outcome: CheckedOutcome): HeldAnswer | Incomparable {
  const { status, headers, pieces, length, isDelimited, stream } = outcome;
  stream?.close();
  if (stream !== null || length > MAX_COMPARED_BYTES) return 'too long';
  if (length === 0) return { status, json: null };
  const isJson =
    isDelimited &&
    isJsonMediaType(headers['content-type'] ?? '') &&
    findInvalidJson(pieces, length) === null;
  return isJson ? { status, json: Buffer.concat(pieces, length) } : 'no JSON';
}

interface Answers {
  readonly live: HeldAnswer;
  readonly candidate: HeldAnswer;
  /** Of the live provider to the same request; `null` for none. */
  readonly again: HeldAnswer | null;
}

/**
 * What differs between the answers, beside what differs between those of the live provider.
 * @returns `null` where they are the same
 * @throws ComparisonTooCostly
 */
export function compareAnswers(
  { live, candidate, again }: Answers,
  ignored: IgnoredPlaces,
  showName: (name: string) => string,
): readonly Difference[] | null {
  const isNoisyStatus = again !== null && again.status !== live.status;
  const isSameStatus = isNoisyStatus || live.status === candidate.status;
  const pointers = compareBodies({ live, candidate, again }, ignored, showName);
  return isSameStatus && pointers.length === 0 ? null : pointers;
}

function compareBodies(
  { live, candidate, again }: Answers,
  ignored: IgnoredPlaces,
  showName: (name: string) => string,
): readonly Difference[] {
  if (again !== null && (again.json === null) !== (live.json === null)) return [];
  if (live.json === null || candidate.json === null) {
    if (live.json === candidate.json) return [];
    return [{ pointer: '', kind: live.json === null ? 'extra' : 'missing' }];
  }
  const json = new ExactJson();
  const options = { json, ignored, showName };
  const value = parse(live.json, json);
  const noise =
    again === null || again.json === null
      ? null
      : findNoise(value, parse(again.json, json), options);
  return compareJson(value, parse(candidate.json, json), options, noise);
}

/** Most bodies have no number that a double may not hold. */
const LONG_NUMBER = /\d[\d.]{15}|\d[eE]/;

function parse(bytes: Buffer, exact: ExactJson): unknown {
  const text = bytes.toString('utf8');
  return LONG_NUMBER.test(text) ? exact.parse(text) : JSON.parse(text);
}

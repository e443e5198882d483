import type { Difference } from '../../lib/json/compare-json.js';
import { findInvalidJson } from '../../lib/json/json-check.js';
import { isJsonMediaType } from '../../lib/media-type.js';
import type { CheckedOutcome } from '../outcome.js';
import type { ComparedBodies } from './comparison.js';
import { comparisons, type ThreadWait } from './comparison-thread.js';

/** The maximum body; longer ones are not compared. Bytes. */
export const MAX_COMPARED_BYTES = 262_144;

/** The compared parts of a response. */
export interface HeldAnswer {
  readonly status: number;
  /** JSON in UTF-8; `null` for no body. */
  readonly json: Buffer | null;
}

/** The reason why a response cannot be compared. */
export type Incomparable = 'too long' | 'no JSON';

/** Reads a buffered response; a stream is closed. */
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
  /** The repeated response of the live provider; `null` for none. */
  readonly repeated: HeldAnswer | null;
}

type Rules = Pick<ComparedBodies, 'ignore' | 'declared'>;

/**
 * Lists differences between the bodies, except those between the responses of the live provider.
 * @returns `null` for bodies that are not compared, to limit the load of the host
 */
export async function compareAnswers(
  { live, candidate, repeated }: Answers,
  rules: Rules,
  turn: ThreadWait,
): Promise<readonly Difference[] | null> {
  const isNoise = repeated !== null && (repeated.json === null) !== (live.json === null);
  if (isNoise || live.json === candidate.json) return [];
  if (live.json === null) return [{ pointer: '', kind: 'extra' }];
  if (candidate.json === null) return [{ pointer: '', kind: 'missing' }];
  // Most answers are the same text, which need not be parsed.
  if (live.json.equals(candidate.json)) return [];
  const bodies = { live: live.json, candidate: candidate.json, repeated: repeated?.json ?? null };
  return comparisons.compare({ ...bodies, ...rules }, turn);
}

/** Also accepts a status that differs between the responses of the live provider. */
export function isSameStatus({ live, candidate, repeated }: Answers): boolean {
  return live.status === candidate.status || (repeated !== null && repeated.status !== live.status);
}

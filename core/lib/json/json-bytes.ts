import { skipMark } from '../byte-order-mark.js';
import { findInvalidJson, measureJson } from './json-check.js';

/** More than a provider sends in an error or in a body that is captured. Parsed in 20 ms. */
const MAX_PARSED_VALUES = 20_000;

interface ParsedBytes {
  /** `undefined` with a problem. */
  readonly value: unknown;
  readonly problem: 'invalid' | 'too many values' | null;
}

/** Parses JSON in UTF-8. Its values are counted first, since the parse cannot be interrupted. */
export function parseJson(bytes: Buffer): ParsedBytes {
  const isInvalid = findInvalidJson([bytes], bytes.length) !== null;
  if (isInvalid) return { value: undefined, problem: 'invalid' };
  const isLong = measureJson(bytes).values > MAX_PARSED_VALUES;
  if (isLong) return { value: undefined, problem: 'too many values' };
  return { value: JSON.parse(skipMark(bytes).toString('utf8')), problem: null };
}

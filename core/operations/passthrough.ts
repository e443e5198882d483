import { isUtf8 } from 'node:buffer';
import { parseJson } from '../lib/json-bytes.js';
import type { CheckedOutcome } from '../provider/outcome.js';
import { isJsonAnswer } from './forward/provider-response.js';

const DETAIL_MEMBERS = ['detail', 'message', 'error', 'title'] as const;
const MAX_DETAIL_CHARACTERS = 1000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]+/g;
// RFC 9110 10.2.3: seconds, or an IMF-fixdate.
const RETRY_AFTER =
  /^(?:\d{1,10}|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT)$/;

/** The provider's own words about its refusal, made harmless; `null` when it has none. */
export function readProviderDetail({ headers, pieces }: CheckedOutcome): string | null {
  if (!isJsonAnswer(headers)) return null;
  const body = Buffer.concat(pieces);
  if (!isUtf8(body)) return null;
  const answer = parseJson(body);
  if (typeof answer !== 'object' || answer === null) return null;
  for (const member of DETAIL_MEMBERS) {
    const detail = Object.hasOwn(answer, member) ? Reflect.get(answer, member) : undefined;
    if (typeof detail !== 'string') continue;
    const clean = detail.replace(CONTROL_CHARACTERS, ' ').trim();
    if (clean !== '') return truncate(clean);
  }
  return null;
}

/** A well-formed `retry-after`, or nothing. */
export function readRetryAfter({ headers }: CheckedOutcome): string | null {
  const value = headers['retry-after'];
  return value !== undefined && RETRY_AFTER.test(value) ? value : null;
}

/** Counts code points, so that no surrogate pair is cut in two. */
function truncate(text: string): string {
  if (text.length <= MAX_DETAIL_CHARACTERS) return text;
  return Array.from(text).slice(0, MAX_DETAIL_CHARACTERS).join('');
}

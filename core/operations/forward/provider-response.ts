import { type Outcome, ProviderFailure } from '../../contract/index.js';
import { isJsonMediaType } from '../../lib/json-bytes.js';
import { explainInvalidJson } from '../../lib/json-check.js';
import { type CheckedOutcome, ProviderStatus } from '../../provider/outcome.js';

const NULL: readonly Uint8Array[] = [Buffer.from('null')];
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The JSON bytes of a 2xx, unchanged, a 2xx without a body being JSON's `null` (contract 1.7).
 * @throws ProviderFailure `protocol` for an answer that cannot be forwarded.
 * @throws ProviderStatus for any other status.
 */
export function readAnswerData(outcome: CheckedOutcome): readonly Uint8Array[] {
  const { status, headers, pieces, length } = outcome;
  const protocol = (what: string) =>
    new ProviderFailure('protocol', `the provider's answer is ${what}`, { status });
  if (REDIRECTS.has(status)) throw protocol('a redirect, which is never followed');
  if (status < 200 || status > 299) throw new ProviderStatus(outcome);
  if (length === 0) return NULL;
  if (!isJsonAnswer(headers)) throw protocol('neither JSON nor in plain encoding');
  const fault = explainInvalidJson(pieces, length);
  if (fault !== null) throw protocol(fault);
  return pieces;
}

/**
 * The same as one piece, for who looks into it.
 * @throws as `readAnswerData`.
 */
export function readAnswerBytes(outcome: CheckedOutcome): Buffer {
  return Buffer.concat(readAnswerData(outcome));
}

/** Whether the headers promise JSON that can be read as it came: nothing is ever decompressed. */
export function isJsonAnswer(headers: Outcome['headers']): boolean {
  const encoding = headers['content-encoding'];
  const contentType = headers['content-type'];
  return (
    (encoding === undefined || encoding.toLowerCase() === 'identity') &&
    contentType !== undefined &&
    isJsonMediaType(contentType)
  );
}

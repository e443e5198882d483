import { type Outcome, ProviderFailure } from '../../contract/index.js';
import { isJsonMediaType } from '../../lib/json-bytes.js';
import { explainInvalidJson } from '../../lib/json-check.js';
import { type CheckedOutcome, ProviderStatus } from '../../provider/outcome.js';

const NULL: readonly Uint8Array[] = [Buffer.from('null')];
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The JSON bytes of a 2xx, unchanged; `null` for a 2xx without a body.
 * @throws ProviderFailure `protocol` for a response that cannot be forwarded.
 * @throws ProviderStatus for any other status.
 */
export function readResponseData(outcome: CheckedOutcome): readonly Uint8Array[] {
  const { status, headers, pieces, length } = outcome;
  const protocol = (what: string) =>
    new ProviderFailure('protocol', `the response of the provider is ${what}`, { status });
  if (REDIRECTS.has(status)) throw protocol('a redirect, which is never followed');
  if (status < 200 || status > 299) throw new ProviderStatus(outcome);
  if (length === 0) return NULL;
  if (!isJsonResponse(headers)) throw protocol('neither JSON nor in plain encoding');
  const reason = explainInvalidJson(pieces, length);
  if (reason !== null) throw protocol(reason);
  return pieces;
}

/**
 * The same as one buffer.
 * @throws as `readResponseData`.
 */
export function readResponseBytes(outcome: CheckedOutcome): Buffer {
  return Buffer.concat(readResponseData(outcome));
}

/** Whether the headers announce JSON without an encoding: the host never decompresses. */
export function isJsonResponse(headers: Outcome['headers']): boolean {
  const encoding = headers['content-encoding'];
  const contentType = headers['content-type'];
  return (
    (encoding === undefined || encoding.toLowerCase() === 'identity') &&
    contentType !== undefined &&
    isJsonMediaType(contentType)
  );
}

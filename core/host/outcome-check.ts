import { type Outcome, ProviderFailure } from '../contract/index.js';

/**
 * An adapter may be anybody's: its answer is judged before it is believed.
 * @throws ProviderFailure `protocol`.
 */
export function checkOutcome(outcome: Outcome, maxBytes: number): Outcome {
  const { status, headers, body } = outcome;
  if (!Number.isInteger(status) || status < 100 || status > 599) {
    throw new ProviderFailure('protocol', 'the adapter answered without a valid status');
  }
  if (typeof headers !== 'object' || headers === null) {
    throw new ProviderFailure('protocol', 'the adapter answered without headers');
  }
  if (body !== null && !(body instanceof Uint8Array)) {
    throw new ProviderFailure('protocol', 'the adapter answered with a body that is not bytes');
  }
  if (body !== null && body.length > maxBytes) {
    throw new ProviderFailure('protocol', 'the answer is longer than limits.response_bytes');
  }
  return outcome;
}

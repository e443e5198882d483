import type { Descriptor } from '../descriptor/descriptor.js';
import type { CheckedOutcome } from '../provider/outcome.js';

/** The provider answered with a status that cannot be forwarded: an answer, and yet a failure. */
export class ProviderStatus extends Error {
  override readonly name = 'ProviderStatus';
  readonly outcome: CheckedOutcome;

  constructor(outcome: CheckedOutcome) {
    super(`the provider answered ${outcome.status}`);
    this.outcome = outcome;
  }
}

/** The statuses that `provider_errors: passthrough` lets through (contract 1.7). */
const PASSED_ON: ReadonlySet<number> = new Set([400, 404, 409, 410, 412, 422, 429]);

/** Whether the caller gets to see the provider's own refusal: then it is no failure. */
export function isPassedOn(error: unknown, { providerErrors }: Descriptor): boolean {
  if (providerErrors !== 'passthrough' || !(error instanceof ProviderStatus)) return false;
  return PASSED_ON.has(error.outcome.status);
}

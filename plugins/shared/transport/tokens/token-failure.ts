import { type FailureCode, ProviderFailure } from '../../../../core/contract/index.js';

/** An error response of a token endpoint. */
export class TokenRejected extends ProviderFailure {
  readonly answer: { readonly status: number; readonly error: string | null };

  constructor(status: number, error: string | null, problem: string = error ?? `status ${status}`) {
    super('unavailable', `token endpoint: ${problem}`, { phase: 'preparing' });
    this.answer = { status, error };
  }
}

export function createTokenFailure(failure: FailureCode, problem: string): ProviderFailure {
  return new ProviderFailure(failure, `token endpoint: ${problem}`, { phase: 'preparing' });
}

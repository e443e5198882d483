import type { CredentialReason } from '../contract/index.js';

interface RejectionOptions {
  /** The name of the claim or header that is the cause, never its value. */
  readonly detail?: string;
  /** Whether an operator may have to act: the claims do not fit the entry, or the key is unusable. */
  readonly isSuspicious?: boolean;
  readonly cause?: unknown;
}

/** A rejected token; the message gives the reason and nothing from the token. */
export class RejectedToken extends Error {
  override readonly name = 'RejectedToken';
  readonly isSuspicious: boolean;
  readonly reason: CredentialReason;
  readonly detail: string | null;
  /** The id of the key that the token names; `null` if none was found. */
  keyId: string | null = null;

  constructor(message: string, reason: CredentialReason, options: RejectionOptions = {}) {
    const { detail = null, isSuspicious = false, cause } = options;
    super(message, { cause });
    this.reason = reason;
    this.detail = detail;
    this.isSuspicious = isSuspicious;
  }
}

/** A token that cannot be verified now: neither accepted nor rejected, since it may be valid. */
export class UnverifiableToken extends Error {
  override readonly name = 'UnverifiableToken';

  constructor(issuer: string, reason: string, options?: ErrorOptions) {
    super(`the issuer '${issuer}' ${reason}`, options);
  }
}

/** Rejects a token because a claim does not fit the entry of its issuer. */
export function createClaimError(name: string, problem: string): RejectedToken {
  const options = { detail: name, isSuspicious: true };
  return new RejectedToken(`the claim '${name}' ${problem}`, 'claim', options);
}

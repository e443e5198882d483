import type { CallContext } from './operation.js';
import type { Secret } from './secret.js';

/** The bearer token of a caller. */
export interface CallerToken {
  /** Send it only to a token endpoint of its issuer. */
  readonly value: Secret;
  /** Milliseconds since 1970; `Infinity` if it is unknown. */
  readonly expiresAt: number;
}

/** The bearer tokens of callers that one issuer has issued, for adapters that exchange them. */
export interface CallerTokens {
  /**
   * The current token endpoints of the issuer in the issuers file; `null` for the one that the
   * issuer's discovery names.
   * @throws Error when the file no longer has the issuer.
   */
  endpoints(): readonly string[] | null;
  /**
   * The token of a call's caller. `null` for a caller without one that the issuer's entry of the issuers file
   * accepted, and for calls of the host itself.
   */
  find(context: CallContext): CallerToken | null;
}

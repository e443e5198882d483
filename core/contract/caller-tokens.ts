import type { CallContext } from './operation.js';
import type { Secret } from './secret.js';

/** The bearer token that a caller came with. */
export interface CallerToken {
  /** Send it to a token endpoint of its issuer, and nowhere else. */
  readonly value: Secret;
  /** Milliseconds since 1970; `Infinity` where it is not known. */
  readonly expiresAt: number;
}

/** The bearer tokens of callers that one issuer has issued, for adapters that exchange them. */
export interface CallerTokens {
  /**
   * The token endpoints that the issuers file names for the issuer now; `null`: only that of the issuer's discovery.
   * @throws Error when the file does not have the issuer any more.
   */
  endpoints(): readonly string[] | null;
  /**
   * The token of a call's caller. `null` for a caller without one that the issuer's entry of the issuers file
   * accepted, and for calls of the host itself.
   */
  find(context: CallContext): CallerToken | null;
}

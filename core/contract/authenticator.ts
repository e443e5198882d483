import type { Actor } from './actor.js';

/** What a caller presented. The host has already refused a request with two `authorization` headers. */
export interface Credentials {
  /** The scheme in lower case (`bearer`); empty when the header has none. */
  readonly scheme: string;
  /** What follows the scheme, unchanged: bytes as Latin-1, at most 16 KiB, whatever a caller likes. */
  readonly token: string;
}

/**
 * Credentials in, actor or nothing out. Authenticators form a chain and the first actor wins; when none
 * answers the request is 401, never anonymous.
 *
 * Called once a request, many at a time, with whatever a caller sent; must not block the event loop, and
 * must compare secrets so that its time tells nothing of them. A throw is a fault of the authenticator
 * (500), not a verdict: answer `null` for credentials that are bad, and for those of another scheme.
 *
 */
export interface Authenticator {
  /** In logs: `^[a-z][a-z0-9-]*$`. */
  readonly name: string;
  /**
   * `null`: not mine, or bad; the next of the chain is asked. The same credentials may come any number of
   * times.
   */
  authenticate(credentials: Credentials): Actor | null | Promise<Actor | null>;
}

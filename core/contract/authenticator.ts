import type { Actor } from './actor.js';

/** What a caller presented. The host has already refused a request with two `authorization` headers. */
export interface Credentials {
  /** The scheme in lower case (`bearer`); empty when the header has none. */
  readonly scheme: string;
  /** What follows the scheme, unchanged. */
  readonly token: string;
}

/**
 * Credentials in, actor or nothing out. Authenticators form a chain and the first actor wins; when
 * none answers the request is 401, never anonymous.
 *
 * Called once a request, many at a time; must not block the event loop. A throw is a fault of the
 * authenticator (500), not a verdict: answer `null` for credentials that are bad.
 */
export interface Authenticator {
  readonly name: string;
  authenticate(credentials: Credentials): Actor | null | Promise<Actor | null>;
}

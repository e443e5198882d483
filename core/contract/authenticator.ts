import type { Struct } from 'superstruct';
import type { Actor } from './actor.js';
import { CONTRACT_VERSION } from './adapter.js';
import type { Log } from './log.js';
import type { Scope } from './scope.js';
import type { Secret } from './secret.js';

const AUTHENTICATOR_BRAND = Symbol.for('modgate.authenticator');

/** The `authorization` header. The host has already rejected a request with two of them. */
export interface Credentials {
  /** The scheme in lower case (`bearer`); empty if the header has none. */
  readonly scheme: string;
  /** What follows the scheme, unchanged: bytes as Latin-1, at most 16 KiB, chosen by the client. */
  readonly token: string;
}

/**
 * Converts credentials to an actor. Authenticators form a chain, and the first actor wins. If no
 * authenticator returns an actor, the request is 401, never anonymous.
 *
 * Called once per request, many at the same time, with untrusted input. It must not block the event loop
 * and must compare secrets in constant time. Return `null` for invalid credentials and for those of another
 * scheme. If it throws, does not return within 5 s, or returns something else, the authenticator has
 * failed: the rest of the chain is called, and without an actor the request is 503.
 */
export interface Authenticator {
  /** In logs: `^[a-z][a-z0-9-]*$`. */
  readonly name: string;
  /**
   * Returns `null` for invalid or foreign credentials; the next authenticator of the chain is then called.
   * The same credentials may be passed any number of times.
   */
  authenticate(credentials: Credentials): Actor | null | Promise<Actor | null>;
}

/** The second argument of {@link AuthenticatorFactory.open}. */
export interface AuthenticatorContext {
  /** Closes when the host stops, or at once if `open` fails. */
  readonly scope: Scope;
  /** The host's log. */
  readonly log: Log;
  /** The secret of a `secretReference()` in the config, already resolved. */
  secret(reference: string): Secret;
  /** The bytes of a `fileReference()` in the config, already read. */
  file(reference: string): Uint8Array;
  /**
   * The absolute path of a `fileReference()` or of any other path in the config; a relative path starts at
   * the folder of the configuration file.
   */
  path(reference: string): string;
}

/** An authenticator of a plugin. Opened once, when the host starts. */
export interface AuthenticatorFactory<Config = unknown> {
  /** Set by {@link defineAuthenticator}. */
  readonly contract: typeof CONTRACT_VERSION;
  /** The name in the setting `authenticators`: `^[a-z][a-z0-9-]*$`. */
  readonly name: string;
  /** Validates the `config` of the setting and must reject unknown keys, as superstruct's `object` does. */
  readonly config: Struct<Config, unknown>;
  /**
   * Must not require that remote services are running, and must end within 5 s.
   * @throws Error if the authenticator cannot work: the host does not start and prints the error's message,
   * which must not contain a secret.
   */
  open(config: Config, context: AuthenticatorContext): Authenticator | Promise<Authenticator>;
}

/** Marks an object as an authenticator and freezes it. */
export function defineAuthenticator<Config>(
  factory: Omit<AuthenticatorFactory<Config>, 'contract'>,
): AuthenticatorFactory<Config> {
  return Object.freeze({ ...factory, contract: CONTRACT_VERSION, [AUTHENTICATOR_BRAND]: true });
}

/** Checks the mark, not the class: a plugin may have its own copy of the contract. */
export function isAuthenticatorFactory(value: unknown): value is AuthenticatorFactory {
  return typeof value === 'object' && value !== null && AUTHENTICATOR_BRAND in value;
}

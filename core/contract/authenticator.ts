import type { Struct } from 'superstruct';
import type { Actor } from './actor.js';
import { CONTRACT_VERSION } from './adapter.js';
import type { Log } from './log.js';
import type { Scope } from './scope.js';
import type { Secret } from './secret.js';

const AUTHENTICATOR_BRAND = Symbol.for('modgate.authenticator');

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
 * must compare secrets so that its time tells nothing of them. Answer `null` for credentials that are bad,
 * and for those of another scheme. A throw, no answer within 5 s, and an answer that is no actor are faults
 * of the authenticator, not verdicts: the rest of the chain is asked, and when nobody there knows the
 * credentials either the request is 503.
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

/** What the host hands to {@link AuthenticatorFactory.open}. */
export interface AuthenticatorContext {
  /** Closes when the host ends, or at once when `open` fails half-way. */
  readonly scope: Scope;
  /** The host's log. */
  readonly log: Log;
  /** The secret behind a `secretReference()` of the config, already resolved. */
  secret(reference: string): Secret;
  /** The bytes behind a `fileReference()` of the config, already read. */
  file(reference: string): Uint8Array;
  /**
   * The absolute path of a `fileReference()` or of any other path in the config, relative ones beside the
   * configuration file.
   */
  path(reference: string): string;
}

/** What a plugin exports for each authenticator that it ships: opened once, when the host starts. */
export interface AuthenticatorFactory<Config = unknown> {
  /** Set by {@link defineAuthenticator}. */
  readonly contract: typeof CONTRACT_VERSION;
  /** As the setting `authenticators` names it: `^[a-z][a-z0-9-]*$`. */
  readonly name: string;
  /** Judges the `config` beside the name; unknown keys must be refused (superstruct's `object` does). */
  readonly config: Struct<Config, unknown>;
  /**
   * Must not need what it asks to be up, and ends within 5 s. A throw keeps the host from starting, with
   * the error's message, so it must name no secret.
   */
  open(config: Config, context: AuthenticatorContext): Authenticator | Promise<Authenticator>;
}

/** Stamps an authenticator with the brand by which the host knows it. */
export function defineAuthenticator<Config>(
  factory: Omit<AuthenticatorFactory<Config>, 'contract'>,
): AuthenticatorFactory<Config> {
  return Object.freeze({ ...factory, contract: CONTRACT_VERSION, [AUTHENTICATOR_BRAND]: true });
}

/** Judges by brand, since a plugin may carry a copy of the contract of its own. */
export function isAuthenticatorFactory(value: unknown): value is AuthenticatorFactory {
  return typeof value === 'object' && value !== null && AUTHENTICATOR_BRAND in value;
}

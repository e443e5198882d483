import type { Struct } from 'superstruct';
import type { Actor } from './actor.js';
import { CONTRACT_VERSION } from './contract-version.js';
import type { Log } from './log.js';
import type { Scope } from './scope.js';
import type { Secret } from './secret.js';

const AUTHENTICATOR_BRAND = Symbol.for('modgate.authenticator');

/**
 * The credentials of a request, all of which the client chooses. The host has already rejected a
 * request with two `authorization` headers.
 */
export interface Credentials {
  /** The scheme of the `authorization` header in lower case (`bearer`); empty without that header. */
  readonly scheme: string;
  /**
   * The text after the scheme, unchanged: bytes as Latin-1, at most 16 KiB; empty without that
   * header.
   */
  readonly token: string;
  /** The method as on the request line: `HEAD` stays `HEAD`. */
  readonly method: string;
  /** The raw target, byte for byte as on the request line: `/modules/crm/http/contacts?limit=10`. */
  readonly target: string;
  /**
   * All headers: lower-case names, and the values of each in the order in which they were sent, as Latin-1.
   * Cookies of the host itself are left out.
   */
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

/** The actor of credentials that also cover the body, such as a signature. */
export interface SignedCredentials {
  /** The caller. */
  readonly actor: Actor;
  /**
   * The SHA-256 of the body that the credentials cover, in lower-case hex; without a body, that of
   * zero bytes. The host compares it with the body for the provider: another body is 401.
   */
  readonly bodySha256: string;
}

/**
 * The reasons of rejections, for operators; the client never learns them. If several authenticators
 * reject the credentials, the last reason in this list counts.
 */
export const CREDENTIAL_REASONS = [
  'missing',
  'no_authenticator',
  'unknown',
  'malformed',
  'too_long',
  'header',
  'claim',
  'issuer',
  'signature',
  'audience',
  'not_yet_valid',
  'expired',
  'revoked',
  'unavailable',
] as const;

/** A word of {@link CREDENTIAL_REASONS}. */
export type CredentialReason = (typeof CREDENTIAL_REASONS)[number];

/** Credentials that an authenticator recognized, and rejects for a known reason. */
export interface RejectedCredentials {
  /** The reason; the client never learns it. */
  readonly rejected: CredentialReason;
}

/** The result of an authenticator; `null` for unknown credentials. */
export type AuthenticationResult = Actor | SignedCredentials | RejectedCredentials | null;

/**
 * Converts credentials to an actor. Authenticators form a chain, and the first actor wins. If no
 * authenticator returns an actor, the request is 401, never anonymous.
 *
 * Called at most once per request, many at the same time, with untrusted input. It must not block the event
 * loop and must compare secrets in constant time. Return `null` for unknown credentials and for those of
 * another scheme, `{rejected: 'expired'}` for those that it knows and rejects. If it throws, does not return
 * within 5 s, or returns something else, the authenticator has failed: the rest of the chain is called, and
 * without an actor the request is 503.
 */
export interface Authenticator {
  /** The name of its factory, by which logs name it. */
  readonly name: string;
  /**
   * The headers that hold its credentials: 1 to 16 lower-case names. It is called only for a request with at
   * least one of them. The host never forwards, logs or records them. Headers that have another meaning for
   * the host (`content-type`, `idempotency-key`, …) are not allowed. Default `['authorization']`.
   */
  readonly reads?: readonly string[];
  /**
   * The challenges of a 401 in `www-authenticate`: 1 to 8, such as `Basic realm="staff"`. Default
   * `['Bearer']`.
   */
  readonly challenges?: readonly string[];
  /**
   * Returns `null` or `{rejected}` for invalid or foreign credentials; the next authenticator of the chain is
   * then called. The same credentials may be passed any number of times.
   */
  authenticate(credentials: Credentials): AuthenticationResult | Promise<AuthenticationResult>;
}

/** The second argument of {@link AuthenticatorFactory.open}. */
export interface AuthenticatorContext {
  /** Closes when the host stops, or at once if `open` fails. */
  readonly scope: Scope;
  /** The host's log; lines name the authenticator. Texts of fields that repeat a secret of the config are masked. */
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

/** An authenticator of a plugin. Opened once, when the host starts; with `--workers` in each worker. */
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

import type { Struct } from 'superstruct';
import { CONTRACT_VERSION } from './contract-version.js';
import type { Log } from './log.js';
import type { Scope } from './scope.js';
import type { Secret } from './secret.js';

const SIGNER_BRAND = Symbol.for('modgate.signer');

/** A request as it is sent, before it is signed. */
export interface RequestToSign {
  /** The method in upper case: `GET`. */
  readonly method: string;
  /** The whole URL: `https://s3.example/bucket/a%20b?x=1`. Path and query are sent byte for byte. */
  readonly url: string;
  /** Lower-case names; without `host`, which the URL has, and without `content-length`. */
  readonly headers: ReadonlyMap<string, string>;
  /**
   * The SHA-256 of the body, in lower-case hex; without a body, that of zero bytes; `null` for a
   * streamed body.
   */
  readonly bodySha256: string | null;
}

/** Signs the requests of one module. */
export interface Signer {
  /**
   * The headers to add, by name. It may replace every header except `host`, those that frame the message, the ids
   * and the trace of the call, and `modgate-*`. Called for each attempt, many at the same time. If it throws, or does
   * not return within 1 s, the call is 502.
   */
  sign(
    request: RequestToSign,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

/** The second argument of {@link SignerFactory.open}. */
export interface SignerContext {
  /** The module whose requests are signed. */
  readonly module: string;
  /** Closes with the version of the module, or at once if `open` fails. */
  readonly scope: Scope;
  /** Writes lines that name the module. */
  readonly log: Log;
  /** The secret of a `secretReference()` in the config, already resolved. */
  secret(reference: string): Secret;
  /** The bytes of a `fileReference()` in the config, already read. */
  file(reference: string): Uint8Array;
  /** The absolute path of a path in the config; a relative path starts at the folder of the descriptor. */
  path(reference: string): string;
}

/** A signer of a plugin. Opened once for each version of a module that names it. */
export interface SignerFactory<Config = unknown> {
  /** Set by {@link defineSigner}. */
  readonly contract: typeof CONTRACT_VERSION;
  /** The name in descriptors and in `signers` of `plugin.json`: `^[a-z][a-z0-9-]*$`. */
  readonly name: string;
  /** Validates the signer's own config in a descriptor, and must reject unknown keys, as superstruct's `object` does. */
  readonly config: Struct<Config, unknown>;
  /**
   * Must end within 5 s, and must not require that remote services are running.
   * @throws Error for a config that cannot work: the descriptor is rejected with the name of the signer and the
   * error's message, which must not contain a secret.
   */
  open(config: Config, context: SignerContext): Signer | Promise<Signer>;
}

/** Marks an object as a signer and freezes it. */
export function defineSigner<Config>(
  factory: Omit<SignerFactory<Config>, 'contract'>,
): SignerFactory<Config> {
  return Object.freeze({ ...factory, contract: CONTRACT_VERSION, [SIGNER_BRAND]: true });
}

/** Checks the mark, not the class: a plugin may have its own copy of the contract. */
export function isSignerFactory(value: unknown): value is SignerFactory {
  return typeof value === 'object' && value !== null && SIGNER_BRAND in value;
}

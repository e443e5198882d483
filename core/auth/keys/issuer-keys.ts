import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createLocalJWKSet, errors, type JWK, type LocalJWKSet } from 'jose';
import type { Log } from '../../contract/index.js';
import { createFileDiagnostic, InvalidFile } from '../../document/diagnostic.js';
import { openReloadedFile } from '../../watch/reloaded-file.js';
import { IssuerError, requestIssuer } from '../issuer-request.js';
import { ISSUER_DEFAULTS, type JwksSource } from '../issuers-file.js';
import { parsePlainJson } from '../strict-json.js';
import { verifySignature } from './verify-signature.js';
import { findKeyWeakness } from './weak-keys.js';

const MAX_KEYS = 100;
/** Kubernetes has its keys as nothing but a key set (RFC 7517). */
const KEY_SET = { accept: 'application/json, application/jwk-set+json' };
const PRINTABLE_ID = /^[ -~]{1,256}$/;

interface PublicKeys {
  /** Excludes symmetric keys, which are never used here. */
  readonly usable: readonly JWK[];
  /** `key 'first': its RSA modulus must have at least 2048 bits` */
  readonly weak: readonly string[];
}

/** Returns `null` unless the value is a JSON Web Key Set with public keys. */
function parseKeySet(value: unknown): PublicKeys | null {
  if (typeof value !== 'object' || value === null || !('keys' in value)) return null;
  const { keys } = value;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) return null;
  const usable: JWK[] = [];
  const weak: string[] = [];
  for (const [index, key] of keys.entries()) {
    if (typeof key?.kty !== 'string' || key.kty === 'oct') continue;
    const weakness = findKeyWeakness(key);
    if (weakness === null) usable.push(withoutCurveName(key));
    else weak.push(`key ${PRINTABLE_ID.test(key.kid) ? `'${key.kid}'` : index + 1}: ${weakness}`);
  }
  return usable.length + weak.length === 0 ? null : { usable, weak };
}

/** `EdDSA` and `Ed25519` (RFC 9864) name the same algorithm for a key of this curve, which decides alone. */
function withoutCurveName(key: JWK): JWK {
  if (key.crv !== 'Ed25519' || (key.alg !== 'EdDSA' && key.alg !== 'Ed25519')) return key;
  const { alg: _, ...rest } = key;
  return rest;
}

/** The public keys of one issuer. */
export interface IssuerKeys {
  /**
   * Verifies the signature of a token.
   * @throws a jose error when no key has made it; IssuerError when no key is known.
   */
  verify(token: string, algorithms: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

const NO_KEYS: IssuerKeys = {
  verify: () => Promise.reject(new IssuerError('is not asked for keys')),
  close: async () => {},
};

/** The time between two attempts while no keys are known. Milliseconds. */
const FIRST_KEYS_RETRY_MS = 1000;
const MS_PER_SECOND = 1000;

/** @throws InvalidFile for a file of keys that is missing or invalid. */
export function openIssuerKeys(
  issuer: string,
  source: JwksSource,
  context: { readonly baseDir: string; readonly log: Log; readonly isOffline: boolean },
): Promise<IssuerKeys> {
  if (source.url !== undefined) {
    if (context.isOffline) return Promise.resolve(NO_KEYS);
    return Promise.resolve(new RemoteKeys(issuer, source.url, source, context.log));
  }
  return openKeysFile(resolve(context.baseDir, source.file ?? ''), context.log);
}

async function openKeysFile(path: string, log: Log): Promise<IssuerKeys> {
  const reloaded = await openReloadedFile(path, {
    log,
    name: 'file of issuer keys',
    parse: parseKeysFile,
    describe: (keys) => ({ keys: keys.jwks().keys.length }),
  });
  return {
    verify: (token, algorithms) => verifySignature(token, reloaded.current, algorithms),
    close: () => reloaded.close(),
  };
}

function parseKeysFile(file: string, text: string): LocalJWKSet {
  const keys = parseKeySet(parsePlainJson(text));
  if (keys === null) {
    throw new InvalidFile([
      createFileDiagnostic(file, 'jwks', 'is not a JSON Web Key Set with a public key'),
    ]);
  }
  if (keys.weak.length > 0) {
    throw new InvalidFile(
      keys.weak.map((reason) => createFileDiagnostic(file, 'weak-key', reason)),
    );
  }
  return createLocalJWKSet({ keys: [...keys.usable] });
}

/**
 * Keys behind a URL. Known keys stay in use while the issuer is unavailable. They are requested
 * again at intervals, and when no known key has signed a token, at most once per cool-down: the
 * issuer may have a new key, under a new or an old id.
 */
class RemoteKeys implements IssuerKeys {
  readonly #issuer: string;
  readonly #url: string;
  readonly #log: Log;
  readonly #cooldownMs: number;
  readonly #refreshMs: number;
  readonly #closed = new AbortController();
  #keys: LocalJWKSet | null = null;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #attempt: Promise<void> | null = null;
  #isDown = false;
  /** The last logged state. */
  #weak = '';

  constructor(issuer: string, url: string, source: JwksSource, log: Log) {
    this.#issuer = issuer;
    this.#url = url;
    this.#log = log;
    this.#cooldownMs =
      MS_PER_SECOND * (source.cooldown_seconds ?? ISSUER_DEFAULTS.cooldown_seconds);
    this.#refreshMs = MS_PER_SECOND * (source.refresh_seconds ?? ISSUER_DEFAULTS.refresh_seconds);
    // Not awaited: the host starts whether or not the issuer is up.
    void this.#refresh(0);
  }

  async verify(token: string, algorithms: readonly string[]): Promise<void> {
    if (this.#keys === null) await this.#refresh(FIRST_KEYS_RETRY_MS);
    // Not awaited: the known keys are still valid.
    else void this.#refresh(this.#refreshMs);
    const currentKeys = this.#keys;
    if (currentKeys === null) throw new IssuerError('has not provided its keys yet');
    try {
      await verifySignature(token, currentKeys, algorithms);
    } catch (error) {
      if (!isOfUnknownKey(error)) throw error;
      await this.#refresh(this.#cooldownMs);
      const renewed = this.#keys ?? currentKeys;
      if (renewed === currentKeys) throw error;
      await verifySignature(token, renewed, algorithms);
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#attempt;
  }

  /** Joins a running attempt; does nothing when the last one was less than `minAgeMs` ago. */
  #refresh(minAgeMs: number): Promise<void> {
    if (this.#attempt !== null) return this.#attempt;
    const now = performance.now();
    if (now - this.#attemptedAt < minAgeMs || this.#closed.signal.aborted) return Promise.resolve();
    this.#attemptedAt = now;
    this.#attempt = this.#fetch().finally(() => {
      this.#attempt = null;
    });
    return this.#attempt;
  }

  async #fetch(): Promise<void> {
    try {
      const keys = parseKeySet(
        await requestIssuer(this.#url, { headers: KEY_SET, signal: this.#closed.signal }),
      );
      if (keys === null) throw new IssuerError('did not respond with a JSON Web Key Set');
      this.#reportWeak(keys.weak);
      // Unchanged keys are kept; otherwise they would be imported again, and tokens verified again.
      if (!isDeepStrictEqual(this.#keys?.jwks().keys, keys.usable)) {
        this.#keys = createLocalJWKSet({ keys: [...keys.usable] });
      }
      if (this.#isDown) this.#log.info({ issuer: this.#issuer }, 'issuer keys available again');
      this.#isDown = false;
    } catch (error) {
      if (!(error instanceof IssuerError) || this.#closed.signal.aborted) return;
      if (!this.#isDown) this.#reportDown(error.message);
      this.#isDown = true;
    }
  }

  #reportDown(reason: string): void {
    const keys = this.#keys?.jwks().keys.length ?? 0;
    this.#log.warn({ issuer: this.#issuer, reason, known_keys: keys }, 'issuer keys unavailable');
  }

  /** A weak key is ignored: the issuer's other keys stay usable. */
  #reportWeak(weak: readonly string[]): void {
    const reasons = weak.join('; ');
    if (reasons !== '' && reasons !== this.#weak) {
      this.#log.warn({ issuer: this.#issuer, reasons: weak }, 'weak issuer keys ignored');
    }
    this.#weak = reasons;
  }
}

function isOfUnknownKey(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed
  );
}

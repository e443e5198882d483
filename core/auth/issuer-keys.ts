import { resolve } from 'node:path';
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  type LocalJWKSet,
} from 'jose';
import type { Log } from '../contract/index.js';
import { createFileDiagnostic, InvalidFile } from '../document/diagnostic.js';
import { openReloadedFile } from '../watch/reloaded-file.js';
import { IssuerError, requestIssuer } from './issuer-request.js';
import { ISSUER_DEFAULTS, type JwksSource } from './issuers-file.js';
import { parsePlainJson } from './strict-json.js';

const MAX_KEYS = 100;

/**
 * The public keys of an issuer. Symmetric keys are left out: nothing here verifies with them.
 * `null` for what is no set of keys, or an empty one, which would lock everybody out.
 */
export function createKeySet(value: unknown): LocalJWKSet | null {
  if (typeof value !== 'object' || value === null || !('keys' in value)) return null;
  const { keys } = value;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) return null;
  const usable = keys.filter(
    (key) =>
      typeof key === 'object' && key !== null && typeof key.kty === 'string' && key.kty !== 'oct',
  );
  return usable.length === 0 ? null : createLocalJWKSet({ keys: usable } as JSONWebKeySet);
}

/** Where the keys of one issuer come from. */
export interface IssuerKeys {
  /** @throws a jose error when no key fits; IssuerTrouble when none is known. */
  readonly get: JWTVerifyGetKey;
  close(): Promise<void>;
}

/** Between two attempts as long as no keys are known at all. Milliseconds. */
const FIRST_KEYS_RETRY_MS = 1000;
const MS_PER_SECOND = 1000;

/** @throws InvalidFile for a file of keys that is missing or bad. */
export function openIssuerKeys(
  issuer: string,
  source: JwksSource,
  context: { readonly baseDir: string; readonly log: Log },
): Promise<IssuerKeys> {
  if (source.url !== undefined)
    return Promise.resolve(new RemoteKeys(issuer, source.url, source, context.log));
  return openKeysFile(resolve(context.baseDir, source.file ?? ''), context.log);
}

async function openKeysFile(path: string, log: Log): Promise<IssuerKeys> {
  const followed = await openReloadedFile(path, {
    log,
    name: 'file of issuer keys',
    parse: (file, text) => {
      const keys = createKeySet(parsePlainJson(text));
      if (keys !== null) return keys;
      throw new InvalidFile([
        createFileDiagnostic(file, 'jwks', 'is not a JSON Web Key Set with a public key'),
      ]);
    },
    describe: (keys) => ({ keys: keys.jwks().keys.length }),
  });
  return { get: (header, token) => followed.current(header, token), close: () => followed.close() };
}

/**
 * Keys behind a URL. Those that are known stay known while the issuer is down; they are asked for again
 * at intervals, and when a token names a key that is not among them, but not more often than the
 * cool-down allows, however many such tokens come.
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

  constructor(issuer: string, url: string, source: JwksSource, log: Log) {
    this.#issuer = issuer;
    this.#url = url;
    this.#log = log;
    this.#cooldownMs =
      MS_PER_SECOND * (source.cooldown_seconds ?? ISSUER_DEFAULTS.cooldown_seconds);
    this.#refreshMs = MS_PER_SECOND * (source.refresh_seconds ?? ISSUER_DEFAULTS.refresh_seconds);
    // Nobody waits: the host starts whether or not the issuer is up.
    void this.#refresh(0);
  }

  readonly get: JWTVerifyGetKey = async (header, token) => {
    if (this.#keys === null) await this.#refresh(FIRST_KEYS_RETRY_MS);
    // Nobody waits for this one: the keys at hand are good.
    else void this.#refresh(this.#refreshMs);
    const known = this.#keys;
    if (known === null) throw new IssuerError('has not told its keys yet');
    try {
      return await known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#refresh(this.#cooldownMs);
      const renewed = this.#keys ?? known;
      if (renewed === known) throw error;
      return renewed(header, token);
    }
  };

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#attempt;
  }

  /** Joins an attempt under way; does nothing when the last one was less than `minAgeMs` ago. */
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
      const keys = createKeySet(await requestIssuer(this.#url, { signal: this.#closed.signal }));
      if (keys === null) throw new IssuerError('answered with no JSON Web Key Set');
      this.#keys = keys;
      if (this.#isDown) this.#log.info({ issuer: this.#issuer }, 'the issuer tells its keys again');
      this.#isDown = false;
    } catch (error) {
      if (!(error instanceof IssuerError) || this.#closed.signal.aborted) return;
      if (!this.#isDown) this.#report(error);
      this.#isDown = true;
    }
  }

  #report(error: IssuerError): void {
    const kept = this.#keys === null ? 'no key of it is known' : 'the known keys are kept';
    this.#log.warn(
      { issuer: this.#issuer, reason: error.message },
      `the keys of an issuer cannot be read; ${kept}`,
    );
  }
}

import { type KeyObject, sign } from 'node:crypto';
import { join } from 'node:path';
import type { Actor, CallContext, Log } from '../contract/index.js';
import { ConfigError } from '../errors.js';
import { nameActor } from '../lib/actor-name.js';
import {
  createKey,
  type KeptKey,
  type PublicKey,
  publishKey,
  readPrivateKey,
} from './identity-key.js';
import { readKeyFile, writeKeyFile } from './key-file.js';
import { chooseSigningKey, dropRetired, needsNewKey, type RotationTimes } from './key-schedule.js';

/** Tells a provider who calls, in a token that only this host can make. */
export interface IdentitySigner {
  /** Sees to it that there is a key; call it before `sign`. */
  prepare(): Promise<void>;
  /** @param callId of the call: `jti`, so that a provider can tell a token that it has seen */
  sign(context: CallContext, actor: Actor, callId: string): string;
}

export interface IdentityOptions {
  readonly stateDir: string;
  readonly log: Log;
  readonly rotation: RotationTimes;
  readonly now?: () => number;
}

export const IDENTITY_HEADER = 'modgate-identity';
export const IDENTITY_ISSUER = 'modgate';
/** From the attempt that carries it. Seconds. */
export const IDENTITY_LIFETIME_SECONDS = 30;

const MINUTE_MS = 60_000;
/** Libraries keep a set of keys for some minutes (jose: 10). */
export const PUBLISH_AHEAD_MS = 15 * MINUTE_MS;
export const PUBLISH_OVERLAP_MS = 60 * MINUTE_MS;
const CHECK_INTERVAL_MS = MINUTE_MS;
const MS_PER_SECOND = 1000;

interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
  /** Encoded, with the dot. */
  readonly head: string;
}

/**
 * The keys of this host: made in the state folder, rotated, and shared by all processes of the folder.
 * Where the folder cannot be written they are kept in memory alone. A host that signs nothing makes none.
 */
export class IdentityKeys implements IdentitySigner {
  readonly #path: string;
  readonly #log: Log;
  readonly #rotation: RotationTimes;
  readonly #now: () => number;
  #keys: readonly KeptKey[] = [];
  #signing: SigningKey | null = null;
  #timer: NodeJS.Timeout | undefined;
  #prepared: Promise<void> | null = null;
  #looking: Promise<void> = Promise.resolve();

  private constructor({ stateDir, log, rotation, now = Date.now }: IdentityOptions) {
    this.#path = join(stateDir, 'identity', 'keys.json');
    this.#log = log;
    this.#rotation = rotation;
    this.#now = now;
  }

  /** @throws ConfigError for keys that cannot be read: to make new ones would lock this host out. */
  static async open(options: IdentityOptions): Promise<IdentityKeys> {
    const keys = new IdentityKeys(options);
    const kept = await keys.#read().catch((error: Error) => {
      throw new ConfigError(
        `${keys.#path} cannot be used (${error.message}): restore or remove it`,
      );
    });
    if (kept?.isExposed) {
      options.log.warn(
        { file: keys.#path },
        'others than its owner may read the identity keys: chmod 600',
      );
    }
    if (kept !== null) await keys.prepare();
    keys.#timer = setInterval(() => {
      if (keys.#prepared !== null) keys.#looking = keys.rotate();
    }, CHECK_INTERVAL_MS).unref();
    return keys;
  }

  prepare(): Promise<void> {
    this.#prepared ??= this.rotate();
    return this.#prepared;
  }

  /** What providers verify with: `GET /.well-known/jwks.json`. */
  publish(): { readonly keys: readonly PublicKey[] } {
    return { keys: this.#keys.map(publishKey) };
  }

  /**
   * By hand, since it is three lines, and 45 µs of CPU where a promise of jose's takes 94 (Node 20,
   * 5,000 tokens).
   */
  sign(context: CallContext, actor: Actor, callId: string): string {
    if (this.#signing === null) throw new Error('identity keys are opened before they sign');
    const issuedAt = Math.floor(this.#now() / MS_PER_SECOND);
    const claims = JSON.stringify({
      iss: IDENTITY_ISSUER,
      aud: context.module,
      sub: nameActor(actor),
      scope: [...actor.scopes].join(' '),
      request_id: context.requestId,
      jti: callId,
      iat: issuedAt,
      exp: issuedAt + IDENTITY_LIFETIME_SECONDS,
    });
    const input = this.#signing.head + Buffer.from(claims).toString('base64url');
    return `${input}.${sign(null, Buffer.from(input), this.#signing.key).toString('base64url')}`;
  }

  /** Takes over what other processes of the folder have made; makes and drops keys when it is time. */
  async rotate(): Promise<void> {
    try {
      this.#keys = (await this.#read())?.keys ?? this.#keys;
    } catch (error) {
      this.#log.error({ err: error }, 'the identity keys cannot be read; those in memory are kept');
    }
    const now = this.#now();
    const kept = dropRetired(this.#keys, this.#rotation, now);
    const isNewDue = needsNewKey(kept, this.#rotation, now);
    const next = isNewDue ? [...kept, await createKey(now)] : kept;
    const isChanged = isNewDue || next.length !== this.#keys.length;
    this.#keys = isChanged ? await this.#write(next) : next;
    this.#select(chooseSigningKey(this.#keys, this.#rotation, now));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#prepared;
    await this.#looking;
  }

  #read() {
    return readKeyFile(this.#path);
  }

  /** What is then kept: the first keys of another process may have been faster. */
  async #write(keys: readonly KeptKey[]): Promise<readonly KeptKey[]> {
    try {
      return await writeKeyFile(this.#path, keys, this.#keys.length === 0);
    } catch (error) {
      this.#log.warn(
        { err: error },
        'the identity keys cannot be written; they are kept in memory',
      );
      return keys;
    }
  }

  #select(chosen: KeptKey | null): void {
    if (chosen === null || this.#signing?.kid === chosen.kid) return;
    const { kid } = chosen;
    const header = JSON.stringify({ alg: 'EdDSA', kid, typ: 'JWT' });
    const head = `${Buffer.from(header).toString('base64url')}.`;
    this.#signing = { kid, key: readPrivateKey(chosen), head };
  }
}

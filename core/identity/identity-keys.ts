import { type KeyObject, sign } from 'node:crypto';
import { join } from 'node:path';
import type { Log } from '../contract/index.js';
import { ConfigError } from '../errors.js';
import { formatClaims, type IdentifiedCaller } from './identity-claims.js';
import {
  createKey,
  type PublicKey,
  publishKey,
  readPrivateKey,
  type StoredKey,
} from './identity-key.js';
import { readKeyFile, writeKeyFile } from './key-file.js';

/** Creates tokens that identify the caller to a provider. */
export interface IdentitySigner {
  /** Creates a key if there is none; call it before `sign`. */
  prepare(): Promise<void>;
  /** @param callId becomes `jti`, so that a provider can detect a replayed token */
  sign(caller: IdentifiedCaller, callId: string): string;
}

interface IdentityOptions {
  readonly stateDir: string;
  readonly log: Log;
  readonly rotation: RotationTimes;
  readonly now?: () => number;
}

export const IDENTITY_HEADER = 'modgate-identity';

const LOST = 'identity keys removed: writing them again';

const MINUTE_MS = 60_000;
/** Libraries cache a key set for some minutes (jose: 10). */
export const PUBLISH_AHEAD_MS = 15 * MINUTE_MS;
export const PUBLISH_OVERLAP_MS = 60 * MINUTE_MS;
const CHECK_INTERVAL_MS = MINUTE_MS;
const MS_PER_SECOND = 1000;

/** Reads the keys of a state folder and changes nothing. @throws ConfigError for unreadable keys. */
export async function readIdentityKeys(stateDir: string): Promise<void> {
  const path = join(stateDir, 'identity', 'keys.json');
  await readKeyFile(path).catch((error: Error) => {
    throw createKeysError(path, error);
  });
}

function createKeysError(path: string, { message }: Error): ConfigError {
  return new ConfigError(`${path} cannot be used (${message}): restore or remove it`);
}

interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
  /** The encoded header and the dot after it. */
  readonly head: string;
}

/**
 * The signing keys of this host: stored in the state folder, rotated, and shared by all processes that use the
 *folder. If the folder is not writable they are in memory only. A host that signs no tokens has no keys.
 */
export class IdentityKeys implements IdentitySigner {
  readonly #path: string;
  readonly #log: Log;
  readonly #rotation: RotationTimes;
  readonly #now: () => number;
  #keys: readonly StoredKey[] = [];
  #signing: SigningKey | null = null;
  #timer: NodeJS.Timeout | undefined;
  #prepared: Promise<void> | null = null;
  #rotating: Promise<void> = Promise.resolve();

  private constructor({ stateDir, log, rotation, now = Date.now }: IdentityOptions) {
    this.#path = join(stateDir, 'identity', 'keys.json');
    this.#log = log;
    this.#rotation = rotation;
    this.#now = now;
  }

  /** @throws ConfigError for unreadable keys: providers would not accept new ones. */
  static async open(options: IdentityOptions): Promise<IdentityKeys> {
    const keys = new IdentityKeys(options);
    const stored = await keys.#read().catch((error: Error) => {
      throw createKeysError(keys.#path, error);
    });
    if (stored?.isExposed) {
      options.log.warn({ file: keys.#path }, 'identity keys readable by other users: chmod 600');
    }
    if (stored !== null) await keys.prepare();
    keys.#timer = setInterval(() => {
      if (keys.#prepared !== null) keys.#rotating = keys.#rotateOrReport();
    }, CHECK_INTERVAL_MS).unref();
    return keys;
  }

  prepare(): Promise<void> {
    this.#prepared ??= this.rotate();
    return this.#prepared;
  }

  /** The response of `GET /.well-known/jwks.json`. */
  publish(): { readonly keys: readonly PublicKey[] } {
    return { keys: this.#keys.map(publishKey) };
  }

  /** Signs without jose, whose asynchronous signing takes twice the CPU time. */
  sign(caller: IdentifiedCaller, callId: string): string {
    if (this.#signing === null) throw new Error('call prepare() before sign()');
    const issuedAt = Math.floor(this.#now() / MS_PER_SECOND);
    const claims = formatClaims(caller, callId, issuedAt);
    const input = this.#signing.head + Buffer.from(claims).toString('base64url');
    return `${input}.${sign(null, Buffer.from(input), this.#signing.key).toString('base64url')}`;
  }

  /** Reads the keys of other processes, and creates and removes keys by the schedule. */
  async rotate(): Promise<void> {
    let isMissing = false;
    try {
      const stored = await this.#read();
      isMissing = stored === null;
      this.#keys = stored?.keys ?? this.#keys;
    } catch (error) {
      this.#log.error({ err: error }, 'identity keys unreadable: using those in memory');
    }
    const now = this.#now();
    const retained = dropRetired(this.#keys, this.#rotation, now);
    const isNewDue = needsNewKey(retained, this.#rotation, now);
    const next = isNewDue ? [...retained, await createKey(now)] : retained;
    const isChanged = isNewDue || next.length !== this.#keys.length;
    this.#keys = isChanged || isMissing ? await this.#write(next, isMissing) : next;
    this.#select(chooseSigningKey(this.#keys, this.#rotation, now));
  }

  /** Logs errors instead of throwing them. */
  #rotateOrReport(): Promise<void> {
    return this.rotate().catch((error: unknown) => {
      this.#log.error({ err: error }, 'identity key rotation failed: using the keys in memory');
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#prepared;
    await this.#rotating;
  }

  #read() {
    return readKeyFile(this.#path);
  }

  /** @returns the stored keys: another process may have created the first ones meanwhile */
  async #write(keys: readonly StoredKey[], isMissing: boolean): Promise<readonly StoredKey[]> {
    if (isMissing && this.#keys.length > 0) this.#log.warn({ file: this.#path }, LOST);
    try {
      return await writeKeyFile(this.#path, keys, isMissing || this.#keys.length === 0);
    } catch (error) {
      this.#log.warn({ err: error }, 'identity keys not writable: keeping them in memory');
      return keys;
    }
  }

  #select(chosen: StoredKey | null): void {
    if (chosen === null || this.#signing?.kid === chosen.kid) return;
    const { kid } = chosen;
    const header = JSON.stringify({ alg: 'EdDSA', kid, typ: 'JWT' });
    const head = `${Buffer.from(header).toString('base64url')}.`;
    this.#signing = { kid, key: readPrivateKey(chosen), head };
  }
}

/** Milliseconds. */
interface RotationTimes {
  /** The time from one key to the next. */
  readonly periodMs: number;
  /** How long a new key is published before it signs: providers cache key sets. */
  readonly aheadMs: number;
  /** How long an old key stays published after it signed last. */
  readonly overlapMs: number;
}

/**
 * The newest key that has been published long enough, otherwise the oldest one. The first key
 * therefore signs at once.
 */
function chooseSigningKey(
  keys: readonly StoredKey[],
  { aheadMs }: RotationTimes,
  now: number,
): StoredKey | null {
  const [first = null, ...later] = sortByAge(keys);
  return later.findLast(({ createdAt }) => createdAt + aheadMs <= now) ?? first;
}

/** Whether it is time to create the next key. */
function needsNewKey(
  keys: readonly StoredKey[],
  { periodMs, aheadMs }: RotationTimes,
  now: number,
): boolean {
  const newest = sortByAge(keys).at(-1);
  return newest === undefined || newest.createdAt + periodMs - aheadMs <= now;
}

/** Removes keys whose successor has been signing for longer than the overlap. */
function dropRetired(
  keys: readonly StoredKey[],
  { aheadMs, overlapMs }: RotationTimes,
  now: number,
): readonly StoredKey[] {
  const sorted = sortByAge(keys);
  return sorted.filter((_, index) => {
    const successor = sorted[index + 1];
    return successor === undefined || now < successor.createdAt + aheadMs + overlapMs;
  });
}

function sortByAge(keys: readonly StoredKey[]): StoredKey[] {
  return keys.toSorted((a, b) => a.createdAt - b.createdAt);
}

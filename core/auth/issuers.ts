import { hash } from 'node:crypto';
import type { Actor, Authenticator, Log } from '../contract/index.js';
import { BoundedCache } from './bounded-cache.js';
import { followFile } from './followed-file.js';
import { openIssuerKeys } from './issuer-keys.js';
import { type IssuerConfig, type IssuersFile, parseIssuersFile } from './issuers-file.js';
import { readJwtParts } from './jwt-parts.js';
import { createTroubleLog, type TroubleLog } from './trouble-log.js';
import { type Issuer, RefusedToken, verifyJwt } from './verify-jwt.js';

export interface IssuersAuthenticators {
  readonly chain: readonly Authenticator[];
  close(): Promise<void>;
}

export interface IssuersOptions {
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Between two looks at the file. Milliseconds, default 2000. */
  readonly pollMs?: number;
}

/** How long a verified token is taken at its word without a second look. Milliseconds. */
const VERIFIED_MS = 60_000;
/** About 10 MB: a digest, an actor and its scopes each. */
const MAX_VERIFIED = 10_000;

/** What one content of the file amounts to. */
interface OpenIssuers {
  readonly byName: ReadonlyMap<string, Issuer>;
  readonly verified: BoundedCache<Actor>;
  close(): Promise<void>;
}

/**
 * Knows the tokens of the issuers of a file and follows its changes: signed tokens, which it verifies
 * itself, and opaque ones, for which it asks.
 * @throws InvalidFile when the file, or one that it names, is bad or missing now.
 */
export async function openIssuersAuthenticators(
  file: string,
  options: IssuersOptions,
): Promise<IssuersAuthenticators> {
  const { log, environment } = options;
  const troubles = createTroubleLog(log);
  const followed = await followFile(file, {
    log,
    name: 'issuers file',
    parse: async (name, text) => openIssuers(await parseIssuersFile(name, text, environment), log),
    describe: ({ byName }) => ({ issuers: [...byName.keys()] }),
    onReplaced: (previous) => void previous.close(),
    pollMs: options.pollMs,
  });
  const jwt: Authenticator = {
    name: 'jwt',
    authenticate: ({ scheme, token }) =>
      scheme === 'bearer' ? findActor(followed.current, token, troubles) : null,
  };
  return {
    chain: [jwt],
    close: async () => {
      await followed.close();
      await followed.current.close();
    },
  };
}

async function openIssuers({ issuers, baseDir }: IssuersFile, log: Log): Promise<OpenIssuers> {
  const opened: Issuer[] = [];
  const close = async () => {
    await Promise.all(opened.map(({ keys }) => keys.close()));
  };
  try {
    for (const config of issuers) opened.push(await openIssuer(config, baseDir, log));
  } catch (error) {
    await close();
    throw error;
  }
  const byName = new Map(opened.map((issuer) => [issuer.config.issuer, issuer]));
  return { byName, verified: new BoundedCache(MAX_VERIFIED), close };
}

async function openIssuer(config: IssuerConfig, baseDir: string, log: Log): Promise<Issuer> {
  return { config, keys: await openIssuerKeys(config.issuer, config.jwks, { baseDir, log }) };
}

/** A token that was verified a moment ago costs a hash and a look-up; the answer is then no promise. */
function findActor(
  issuers: OpenIssuers,
  token: string,
  troubles: TroubleLog,
): Actor | null | Promise<Actor | null> {
  const digest = hash('sha256', token, 'base64');
  return issuers.verified.get(digest) ?? verify(issuers, token, digest, troubles);
}

async function verify(
  { byName, verified }: OpenIssuers,
  token: string,
  digest: string,
  troubles: TroubleLog,
): Promise<Actor | null> {
  const parts = readJwtParts(token);
  const issuer = parts === null ? undefined : byName.get(parts.issuer);
  if (issuer === undefined) return null;
  try {
    const { actor, expiresAt } = await verifyJwt(token, issuer);
    verified.set(digest, actor, Math.min(expiresAt, Date.now() + VERIFIED_MS));
    return actor;
  } catch (error) {
    if (!(error instanceof RefusedToken)) throw error;
    troubles.report(issuer.config.issuer, error);
    return null;
  }
}

import { hash } from 'node:crypto';
import type { Actor, Authenticator, Log } from '../contract/index.js';
import { ExpiringCache } from '../lib/expiring-cache.js';
import { openReloadedFile } from '../watch/reloaded-file.js';
import { Introspection } from './introspection.js';
import { openIssuerKeys } from './issuer-keys.js';
import { type IssuerConfig, type IssuersFile, parseIssuersFile } from './issuers-file.js';
import { createRejectionLog, type RejectionLog } from './rejection-log.js';
import { type Issuer, RejectedToken, readJwtParts, verifyJwt } from './verify-jwt.js';

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
  readonly verified: ExpiringCache<Actor>;
  readonly introspection: readonly Introspection[];
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
  const troubles = createRejectionLog(log);
  const followed = await openReloadedFile(file, {
    log,
    name: 'issuers file',
    parse: async (name, text) =>
      openIssuers(await parseIssuersFile(name, text, environment), log, troubles),
    describe: ({ byName, introspection }) => ({
      issuers: byName.size,
      introspection: introspection.length,
    }),
    onReplaced: (previous) => void previous.close(),
    pollMs: options.pollMs,
  });
  const jwt: Authenticator = {
    name: 'jwt',
    authenticate: ({ scheme, token }) =>
      scheme === 'bearer' ? findActor(followed.current, token, troubles) : null,
  };
  const introspection: Authenticator = {
    name: 'introspection',
    authenticate: ({ scheme, token }) =>
      scheme === 'bearer' ? ask(followed.current, token) : null,
  };
  return {
    chain: [jwt, introspection],
    close: async () => {
      await followed.close();
      await followed.current.close();
    },
  };
}

async function openIssuers(
  file: IssuersFile,
  log: Log,
  troubles: RejectionLog,
): Promise<OpenIssuers> {
  const opened: Issuer[] = [];
  const close = async () => {
    await Promise.all(opened.map(({ keys }) => keys.close()));
  };
  try {
    for (const config of file.issuers) opened.push(await openIssuer(config, file.baseDir, log));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    byName: new Map(opened.map((issuer) => [issuer.config.issuer, issuer])),
    verified: new ExpiringCache(MAX_VERIFIED),
    introspection: file.introspection.map(
      (config) => new Introspection(config, file.secret(config.client_secret), troubles),
    ),
    close,
  };
}

async function openIssuer(config: IssuerConfig, baseDir: string, log: Log): Promise<Issuer> {
  return { config, keys: await openIssuerKeys(config.issuer, config.jwks, { baseDir, log }) };
}

/** A token that was verified a moment ago costs a hash and a look-up; the answer is then no promise. */
function findActor(
  issuers: OpenIssuers,
  token: string,
  troubles: RejectionLog,
): Actor | null | Promise<Actor | null> {
  const digest = hash('sha256', token, 'base64');
  return issuers.verified.get(digest) ?? verify(issuers, token, digest, troubles);
}

async function verify(
  { byName, verified }: OpenIssuers,
  token: string,
  digest: string,
  troubles: RejectionLog,
): Promise<Actor | null> {
  const parts = readJwtParts(token);
  const issuer = parts === null ? undefined : byName.get(parts.issuer);
  if (issuer === undefined) return null;
  try {
    const { actor, expiresAt } = await verifyJwt(token, issuer);
    verified.set(digest, actor, Math.min(expiresAt, Date.now() + VERIFIED_MS));
    return actor;
  } catch (error) {
    if (!(error instanceof RejectedToken)) throw error;
    troubles.report(issuer.config.issuer, error);
    return null;
  }
}

/**
 * The first that knows the token wins. A signed token of an issuer whose keys are at hand has been judged:
 * nobody is asked for a second opinion.
 */
async function ask(issuers: OpenIssuers, token: string): Promise<Actor | null> {
  if (issuers.introspection.length === 0) return null;
  const issuer = readJwtParts(token)?.issuer;
  if (issuer !== undefined && issuers.byName.has(issuer)) return null;
  const digest = hash('sha256', token, 'base64');
  let failure: { readonly error: unknown } | null = null;
  for (const introspection of issuers.introspection) {
    try {
      const actor = await introspection.authenticate(token, digest);
      if (actor !== null) return actor;
    } catch (error) {
      // Another issuer may know it.
      failure ??= { error };
    }
  }
  if (failure !== null) throw failure.error;
  return null;
}

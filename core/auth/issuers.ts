import { hash } from 'node:crypto';
import type { Actor, AuthenticationResult, Authenticator, Log } from '../contract/index.js';
import { type Diagnostic, InvalidFile } from '../document/diagnostic.js';
import { openReloadedFile } from '../watch/reloaded-file.js';
import { markAccepted } from './accepted-by.js';
import type { ExchangeIssuers } from './accepted-tokens.js';
import { ActorCache } from './actor-cache.js';
import type { CallerCredentials } from './caller-credentials.js';
import type { Rejected } from './checked-authenticator.js';
import { Introspection } from './introspection.js';
import {
  findTokenEndpoints,
  type IssuerConfig,
  type IssuersFile,
  listSecretFiles,
  parseIssuersFile,
} from './issuers-file.js';
import { openIssuerKeys } from './keys/issuer-keys.js';
import { createMismatch, findNear } from './mismatch.js';
import { RejectedToken } from './rejected-token.js';
import { createRejectionLog, type RejectionLog } from './rejection-log.js';
import { type Issuer, readJwtParts, verifyJwt } from './verify-jwt.js';

interface IssuersAuthenticators {
  readonly chain: readonly Authenticator[];
  /** The issuers that the file lists now. */
  readonly issuers: readonly string[];
  readonly exchange: ExchangeIssuers;
  close(): Promise<void>;
}

interface IssuersOptions {
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether keys behind URLs are not requested. Default false. */
  readonly isOffline?: boolean;
  /** The time between two checks of the file. Milliseconds, default 2000. */
  readonly pollMs?: number;
}

const NO_ISSUER: Rejected = { rejected: 'claim', token: null, detail: 'iss' };

/** How long a verified token is accepted without verifying it again. Milliseconds. */
const VERIFIED_MS = 60_000;

/** One version of the file. */
interface OpenIssuers {
  readonly byName: ReadonlyMap<string, Issuer>;
  readonly verified: ActorCache;
  readonly introspection: readonly Introspection[];
  /** The names of the issuers of signed and of opaque tokens. */
  readonly names: readonly string[];
  readonly tokenEndpoints: ExchangeIssuers['tokenEndpoints'];
  close(): Promise<void>;
}

/**
 * Authenticates tokens of the issuers in a file, which is reloaded when it changes. Signed tokens
 * are verified locally, opaque ones by introspection.
 * @throws InvalidFile when the file, or one that it names, is invalid or missing at startup.
 */
export async function openIssuersAuthenticators(
  file: string,
  options: IssuersOptions,
): Promise<IssuersAuthenticators> {
  const { log, environment, isOffline = false } = options;
  const rejections = createRejectionLog(log);
  const reloaded = await openReloadedFile(file, {
    log,
    name: 'issuers file',
    parse: async (name, text) =>
      openIssuers(await parseIssuersFile(name, text, environment), { log, isOffline }, rejections),
    listFiles: listSecretFiles,
    describe: ({ byName, introspection }) => ({
      issuers: byName.size,
      introspection: introspection.length,
    }),
    pollMs: options.pollMs,
  });
  const exchange: ExchangeIssuers = {
    tokenEndpoints: (issuer) => reloaded.current.tokenEndpoints(issuer),
    onChange: () => {},
  };
  reloaded.onChange = (_current, previous) => {
    exchange.onChange();
    previous.close().catch((error: unknown) => log.error({ err: error }, 'issuer not closed'));
  };
  const jwt: Authenticator = {
    name: 'jwt',
    authenticate: ({ scheme, token }) =>
      scheme === 'bearer' ? findActor(reloaded.current, token, rejections) : null,
  };
  const introspection: Authenticator = {
    name: 'introspection',
    authenticate: (credentials) =>
      credentials.scheme === 'bearer' ? introspect(reloaded.current, credentials) : null,
  };
  return {
    chain: [jwt, introspection],
    issuers: reloaded.current.names,
    exchange,
    close: async () => {
      await reloaded.close();
      await reloaded.current.close();
    },
  };
}

async function openIssuers(
  file: IssuersFile,
  context: KeysContext,
  rejections: RejectionLog,
): Promise<OpenIssuers> {
  const opened: Issuer[] = [];
  const invalid: Diagnostic[] = [];
  const close = async () => {
    await Promise.all(opened.map(({ keys }) => keys.close()));
  };
  for (const config of file.issuers) {
    try {
      opened.push(await openIssuer(config, file.baseDir, context));
    } catch (error) {
      if (!(error instanceof InvalidFile)) {
        await close();
        throw error;
      }
      invalid.push(...error.diagnostics);
    }
  }
  if (invalid.length > 0) {
    await close();
    throw new InvalidFile(invalid);
  }
  const introspected = file.introspection.flatMap(({ issuer }) => issuer ?? []);
  return {
    names: [...file.issuers.map(({ issuer }) => issuer), ...introspected],
    tokenEndpoints: (issuer) => findTokenEndpoints(file, issuer),
    byName: new Map(opened.map((issuer) => [issuer.config.issuer, issuer])),
    verified: new ActorCache(),
    introspection: file.introspection.map(
      (config) => new Introspection(config, file.secret(config.client_secret), rejections),
    ),
    close,
  };
}

type KeysContext = Omit<Parameters<typeof openIssuerKeys>[2], 'baseDir'>;

async function openIssuer(
  config: IssuerConfig,
  baseDir: string,
  context: KeysContext,
): Promise<Issuer> {
  return {
    config,
    keys: await openIssuerKeys(config.issuer, config.jwks, { ...context, baseDir }),
  };
}

/** A cached token costs a hash and a lookup, without a promise. */
function findActor(
  issuers: OpenIssuers,
  token: string,
  rejections: RejectionLog,
): Actor | Promise<AuthenticationResult> {
  const digest = hash('sha256', token, 'base64');
  return issuers.verified.get(digest) ?? verify(issuers, token, digest, rejections);
}

async function verify(
  { byName, verified }: OpenIssuers,
  token: string,
  digest: string,
  rejections: RejectionLog,
): Promise<AuthenticationResult> {
  const parts = readJwtParts(token);
  if (parts === null) return null;
  // With several issuers, a token without `iss` may belong to any of them, or to a later
  // authenticator.
  if (parts.issuer === null) return byName.size === 1 ? NO_ISSUER : null;
  const issuer = byName.get(parts.issuer);
  if (issuer === undefined) {
    // Anyone can send a token of any other name, which is not logged.
    const near = findNear(parts.issuer, [...byName.keys()]);
    if (near !== undefined) rejections.report(near, createMismatch('issuer', near));
    return { rejected: 'issuer' };
  }
  try {
    const result = await verifyJwt(token, parts, issuer);
    const { expiresAt } = result;
    markAccepted(result.actor, { issuer: issuer.config.issuer, expiresAt });
    verified.set(digest, result, VERIFIED_MS);
    return result.actor;
  } catch (error) {
    if (!(error instanceof RejectedToken)) throw error;
    rejections.report(issuer.config.issuer, error);
    const { reason, keyId, detail } = error;
    const rejected: Rejected = { rejected: reason, token: keyId, detail };
    return rejected;
  }
}

/**
 * The first issuer that accepts the token wins. A signed token of a configured issuer has been verified
 * already and is not introspected.
 */
async function introspect(
  issuers: OpenIssuers,
  credentials: CallerCredentials,
): Promise<AuthenticationResult> {
  if (issuers.introspection.length === 0) return null;
  const issuer = readJwtParts(credentials.token)?.issuer;
  if (issuer != null && issuers.byName.has(issuer)) return null;
  const digest = hash('sha256', credentials.token, 'base64');
  let failure: { readonly error: unknown } | null = null;
  let rejected: AuthenticationResult = null;
  for (const introspection of issuers.introspection) {
    try {
      const result = await introspection.authenticate(credentials, digest);
      if (result !== null && !('rejected' in result)) return result;
      rejected = result ?? rejected;
    } catch (error) {
      // Another issuer may accept it.
      failure ??= { error };
    }
  }
  if (failure !== null) throw failure.error;
  return rejected;
}

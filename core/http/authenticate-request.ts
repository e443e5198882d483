import type { IncomingMessage } from 'node:http';
import type { AuthFailures } from '../auth/auth-failures.js';
import { authenticateWith } from '../auth/authenticate.js';
import type { CallerCredentials } from '../auth/caller-credentials.js';
import {
  type Authenticated,
  type CheckedAuthenticator,
  isRejected,
  type Rejected,
} from '../auth/checked-authenticator.js';
import { BASIC_CHALLENGE } from '../auth/credential-headers.js';
import type { Roles } from '../auth/roles.js';
import type { Actor, CredentialReason } from '../contract/index.js';
import { type ErrorDetail, HostError } from '../errors.js';
import { createAnonymous } from '../lib/actor-name.js';
import { andThen } from '../lib/promises.js';
import { UNAUTHENTICATED } from '../operations/authorization.js';
import type { ActorRate } from '../operations/rate-limit.js';
import type { CallerRequest, CurrentActor, RequestFacts } from '../operations/request.js';
import type { CallerHeaders } from './request/caller-headers.js';
import {
  assertTrustedPage,
  assertTrustedPageOrNone,
  type TrustedPages,
} from './request/cookie-origin.js';
import { listPresentHeaders, RequestCredentials } from './request/present-credentials.js';
import type { InProcessCaller } from './surfaces/in-process-connection.js';
import type { ClientCertificates } from './tls/client-certificates.js';

/** Settings for the identification of callers and their rates. */
export interface Authentication {
  /** The authenticators in the order of their calls. */
  readonly chain: readonly CheckedAuthenticator[];
  /** The headers that hold credentials, in lower case. Never forwarded, logged or recorded. */
  readonly credentialHeaders: readonly string[];
  /** Adds scopes to the actors of the chain and of certificates. */
  readonly roles: Roles;
  /** The challenges of a 401; never empty. */
  readonly challenges: readonly string[];
  /** A header that may hold a token besides `authorization`; `null` for none. */
  readonly tokenHeader: string | null;
  /** Whether a token is also accepted as the password of `authorization: Basic`. */
  readonly takesBasic: boolean;
  /** The pages whose requests may use credentials that browsers add automatically. */
  readonly pages: TrustedPages;
  /** `null` ignores client certificates. */
  readonly certificates: ClientCertificates | null;
  /** `null` for no limit. */
  readonly actorRate: ActorRate | null;
  /** `null` for no limit. */
  readonly authFailures: AuthFailures | null;
}

interface AuthenticatedRequest extends Pick<CallerRequest, 'actor' | 'client' | 'replyHeaders'> {
  readonly req: IncomingMessage;
  readonly headers: CallerHeaders;
  /** The caller of a request in memory; `null` for a request over the network. */
  readonly inProcess: InProcessCaller | null;
  readonly facts: Pick<RequestFacts, 'token'>;
  bodySha256: string | null;
  authenticateAs(actor: Actor): void;
}

const CREDENTIALS = /^([A-Za-z][A-Za-z0-9._-]*) +(.+)$/;
const BLANK = /\s/;
const BASIC = /^[A-Za-z0-9+/]+={0,2}$/;
const NO_TOKEN: Token = { scheme: '', token: '', isPassword: false };

interface Token extends Pick<CallerCredentials, 'scheme' | 'token'> {
  /** Whether the token is the password of `authorization: Basic`. */
  readonly isPassword: boolean;
}

/**
 * Sets the actor of the request: that of its credential headers, otherwise that of the client
 * certificate. A request without credentials to a public route has an anonymous actor. Returns a
 * promise only if an authenticator does.
 * @throws HostError 401 for missing, repeated or invalid credentials; 503 when they cannot be
 * verified; 403 for a cookie from an untrusted page; 429.
 */
export function authenticate(
  request: AuthenticatedRequest,
  authentication: Authentication,
  isPublic: () => boolean,
): void | Promise<void> {
  const { chain, certificates, actorRate, credentialHeaders, pages } = authentication;
  const { headers, req, inProcess } = request;
  const present = listPresentHeaders(headers, credentialHeaders);
  const admit = (actor: Actor): void | Promise<void> => {
    return andThen(actorRate?.admit(actor, request), () => request.authenticateAs(actor));
  };
  if (inProcess !== null) return admit(inProcess.actor);
  let token = NO_TOKEN;
  const hasAuthorization = headers.get('authorization') !== undefined;
  // On a public route, a cookie that no authenticator knows is ignored.
  const isBad = ({ rejected }: Rejected) =>
    rejected !== 'unknown' || !isOnly(present, 'cookie') || hasAuthorization || !isPublic();
  const accept = (outcome: Authenticated | Rejected): void | Promise<void> => {
    if (isRejected(outcome)) {
      if (!isBad(outcome)) {
        return admit(createAnonymous(request.client?.address ?? ''));
      }
      request.facts.token = outcome.token;
      const word = findWord(outcome, token.scheme, authentication);
      throw createUnauthorized(authentication, { ...INVALID, word, wordDetail: outcome.detail }, [
        ...present,
      ]);
    }
    if (outcome.readsCookies && present.has('cookie')) assertTrustedPage(request, pages, 'cookie'); // 403
    if (token.isPassword) assertTrustedPageOrNone(request, pages, 'password'); // 403
    request.bodySha256 = outcome.bodySha256;
    return admit(outcome.actor);
  };
  const certified = certificates?.verify(req.socket) ?? 'none';
  // Even with a valid token, because invalid credentials are never ignored.
  if (certified === 'rejected') throw createCertificateError();
  const hasHeader = present.size > 0 || hasAuthorization;
  if (certified !== 'none' && !hasHeader) {
    assertTrustedPageOrNone(request, pages, 'certificate'); // 403
    return admit(certified);
  }
  if (!hasHeader) {
    if (isPublic()) return admit(createAnonymous(request.client?.address ?? ''));
    throw createUnauthorized(authentication, MISSING, credentialHeaders);
  }
  const verify = () => {
    token = readToken(headers, authentication);
    if (present.size === 0) throw createUnauthorized(authentication, NOT_READ, credentialHeaders);
    return authenticateWith(chain, new RequestCredentials(request, token), present);
  };
  const outcome = guard(request, authentication, { present, verify, isCounted: isBad });
  return andThen(outcome, accept);
}

/**
 * Authenticates the credentials of an earlier request again. It does not count as a request or an
 * attempt.
 * @throws HostError 503 if they cannot be verified now.
 */
export async function reauthenticate(
  { headers, req, inProcess, actor, client }: AuthenticatedRequest,
  authentication: Authentication,
): Promise<CurrentActor> {
  if (actor.kind === 'anonymous') return actor;
  if (inProcess !== null) return inProcess.reauthenticate();
  const { certificates, chain, credentialHeaders } = authentication;
  const certified = certificates?.verify(req.socket) ?? 'none';
  if (certified === 'rejected') return null;
  const present = listPresentHeaders(headers, credentialHeaders);
  if (present.size === 0) return certified === 'none' ? null : certified;
  const token = readToken(headers, authentication);
  const outcome = await authenticateWith(
    chain,
    new RequestCredentials({ req, client }, token),
    present,
  );
  return toCurrentActor(outcome, actor);
}

/**
 * An issuer may report an expired token as not active.
 * @param earlier the actor of the credentials when they were valid
 */
export function toCurrentActor(outcome: Authenticated | Rejected, earlier: Actor): CurrentActor {
  if (!isRejected(outcome)) return outcome.actor;
  const hasExpired = Date.now() >= (earlier.expiresAt ?? Number.POSITIVE_INFINITY);
  const isExpired =
    outcome.rejected === 'expired' || (outcome.rejected === 'revoked' && hasExpired);
  return isExpired ? 'expired' : null;
}

/** Verifies the credentials of a request, unless too many from its address were rejected. */
function guard(
  { headers, client }: AuthenticatedRequest,
  { authFailures }: Authentication,
  attempt: Pick<Parameters<AuthFailures['guard']>[0], 'verify' | 'isCounted'> & {
    readonly present: ReadonlySet<string>;
  },
): ReturnType<AuthFailures['guard']> {
  const { present, verify, isCounted } = attempt;
  if (authFailures === null || client === null) return verify();
  const names = [...new Set(['authorization', ...present])];
  const text = names.map((name) => `${name}\0${lowerScheme(headers.get(name) ?? '')}`).join('\0');
  return authFailures.guard({
    address: client.address,
    text,
    verify,
    ...(isCounted && { isCounted }),
  });
}

/** Lowers the scheme, so that one spelling counts for requests and for sign-ins of surfaces. */
function lowerScheme(value: string): string {
  return value.replace(/^(\S+) +/, (_, scheme: string) => `${scheme.toLowerCase()} `);
}

/** Browsers send cookies of other applications with the same name. */
function isOnly(present: ReadonlySet<string>, name: string): boolean {
  return present.size === 1 && present.has(name);
}

/**
 * Excludes passwords: for surfaces, browsers would ask for one, and send it with requests of any
 * page.
 */
export function withoutBasic(authentication: Authentication): Authentication {
  if (!authentication.takesBasic) return authentication;
  const challenges = authentication.challenges.filter((challenge) => challenge !== BASIC_CHALLENGE);
  return { ...authentication, takesBasic: false, challenges };
}

/** Whether the request has no credentials at all. */
export function isAnonymous(
  { headers, req, inProcess }: AuthenticatedRequest,
  { certificates, credentialHeaders }: Authentication,
): boolean {
  if (inProcess !== null || listPresentHeaders(headers, credentialHeaders).size > 0) return false;
  return (certificates?.verify(req.socket) ?? 'none') === 'none';
}

/**
 * Reads the scheme and the token of the `authorization` header; both are empty without one.
 * @throws HostError 401 for a malformed or repeated header, and for two different tokens.
 */
function readToken(headers: CallerHeaders, authentication: Authentication): Token {
  const token = parseAuthorization(headers, authentication);
  const { tokenHeader } = authentication;
  const other = tokenHeader === null ? undefined : headers.get(tokenHeader);
  if (tokenHeader === null || other === undefined) return token;
  if (headers.count(tokenHeader) > 1) {
    const detail = `the request has two ${tokenHeader} headers`;
    const repeated = { detail, reason: 'repeated', word: 'malformed' } as const;
    throw createUnauthorized(authentication, repeated, [tokenHeader]);
  }
  if (token.scheme === 'bearer' && token.token !== other) {
    throw createUnauthorized(authentication, TWO_TOKENS, ['authorization', tokenHeader]);
  }
  return token;
}

function parseAuthorization(headers: CallerHeaders, authentication: Authentication): Token {
  const authorization = headers.get('authorization');
  if (authorization === undefined) return NO_TOKEN;
  if (headers.count('authorization') > 1) {
    throw createUnauthorized(authentication, REPEATED, ['authorization']);
  }
  const match = CREDENTIALS.exec(authorization);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw createUnauthorized(authentication, INVALID, ['authorization']);
  }
  const scheme = match[1].toLowerCase();
  // No token of this scheme contains a blank (RFC 6750, 2.1).
  if (scheme === 'bearer' && BLANK.test(match[2])) {
    throw createUnauthorized(authentication, INVALID, ['authorization']);
  }
  if (scheme !== 'basic' || !authentication.takesBasic) {
    return { scheme, token: match[2], isPassword: false };
  }
  const password = readPassword(match[2]);
  if (password === null) throw createUnauthorized(authentication, INVALID, ['authorization']);
  return { scheme: 'bearer', token: password, isPassword: true };
}

/** The user name is ignored. Returns `null` for anything but user name and password (RFC 7617). */
function readPassword(encoded: string): string | null {
  if (!BASIC.test(encoded)) return null;
  const pair = Buffer.from(encoded, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon === -1 || colon === pair.length - 1 ? null : pair.slice(colon + 1);
}

interface Rejection {
  readonly detail: string;
  /** The same text for each header. */
  readonly reason: string;
  /** The reason for operators. */
  readonly word: CredentialReason;
  /** The name of the header or claim of the token, for operators. */
  readonly wordDetail?: string | null;
}

const MISSING: Rejection = {
  detail: UNAUTHENTICATED.missing,
  reason: 'missing',
  word: 'missing',
};
const NOT_READ: Rejection = { ...MISSING, word: 'no_authenticator' };
const INVALID: Rejection = {
  detail: UNAUTHENTICATED.invalid,
  reason: 'not valid',
  word: 'malformed',
};
const REPEATED: Rejection = {
  detail: 'the request has two authorization headers',
  reason: 'repeated',
  word: 'malformed',
};
const TWO_TOKENS: Rejection = {
  detail: 'the request has two different tokens',
  reason: 'another token than in the other header',
  word: 'malformed',
};

function createUnauthorized(
  authentication: Authentication,
  { detail, reason, word, wordDetail = null }: Rejection,
  headers: readonly string[],
): HostError {
  const errors = headers.map((field): ErrorDetail => ({ field, reason }));
  return new HostError('unauthorized', detail, {
    step: 'actor',
    reason: word,
    reasonDetail: wordDetail,
    errors,
    nextActions: [adviseOn(authentication)],
  });
}

/** Returns a separate reason for a scheme that no authenticator accepts. */
function findWord(
  { rejected }: Rejected,
  scheme: string,
  { challenges }: Authentication,
): CredentialReason {
  if (rejected !== 'unknown' || scheme === '') return rejected;
  const schemes = challenges.map((challenge) => challenge.split(' ', 1)[0]?.toLowerCase());
  return schemes.includes(scheme) ? rejected : 'malformed';
}

function adviseOn({ credentialHeaders, challenges }: Authentication): string {
  const [first, ...others] = credentialHeaders;
  if (others.length > 0) {
    return `send valid credentials in one of these headers: ${credentialHeaders.join(', ')}`;
  }
  const isBearer =
    first === 'authorization' && challenges.some((challenge) => /^bearer\b/i.test(challenge));
  return `send ${isBearer ? 'a valid bearer token' : 'valid credentials'} in the ${first} header`;
}

function createCertificateError(): HostError {
  return new HostError('unauthorized', 'the certificate of the connection is not valid', {
    step: 'actor',
    reason: 'certificate',
    errors: [{ field: 'certificate', reason: 'not valid' }],
    nextActions: ['connect with a valid client certificate, or without one'],
  });
}

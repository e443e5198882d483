import { authenticateWith } from '../auth/authenticate.js';
import type { CallerCredentials } from '../auth/caller-credentials.js';
import type { Authenticated, CheckedAuthenticator } from '../auth/checked-authenticator.js';
import type { Actor } from '../contract/index.js';
import { type ErrorDetail, HostError } from '../errors.js';
import type { ActorRate } from '../operations/rate-limit.js';
import type { CallerHeaders } from './request/caller-headers.js';
import { assertTrustedPage, type TrustedPages } from './request/cookie-origin.js';
import { findPresent, RequestCredentials } from './request/present-credentials.js';
import type { RequestContext } from './request-context.js';
import type { ClientCertificates } from './tls/client-certificates.js';

/** How callers are identified, and how often each may call. */
export interface Authentication {
  /** In the order in which they are called. */
  readonly chain: readonly CheckedAuthenticator[];
  /** The headers that hold credentials, in lower case. Never forwarded, logged or recorded. */
  readonly credentialHeaders: readonly string[];
  /** What a 401 lists; never empty. */
  readonly challenges: readonly string[];
  /** A header that holds a token as well as `authorization`; `null`: none. */
  readonly tokenHeader: string | null;
  /** The pages whose requests may use a cookie as their credential. */
  readonly pages: TrustedPages;
  /** `null`: client certificates are ignored. */
  readonly certificates: ClientCertificates | null;
  /** `null`: no limit. */
  readonly actorRate: ActorRate | null;
}

const CREDENTIALS = /^([A-Za-z][A-Za-z0-9._-]*) +(.+)$/;
const NO_TOKEN = { scheme: '', token: '' };

/**
 * Sets the actor of the request: the one of its credential headers, otherwise the one of the client certificate.
 * A promise only if an authenticator needs one.
 * @throws HostError 401 for credentials that are missing, repeated or not valid; 503 when they cannot be
 * checked; 403 for a cookie from an untrusted page; 429.
 */
export function authenticate(
  request: RequestContext,
  authentication: Authentication,
): Actor | Promise<Actor> {
  const { chain, certificates, actorRate, credentialHeaders, pages } = authentication;
  const { headers, req, inProcess } = request;
  const present = findPresent(headers, credentialHeaders);
  const admit = (actor: Actor): Actor => {
    actorRate?.admit(actor);
    request.authenticateAs(actor);
    return actor;
  };
  if (inProcess !== null) return admit(inProcess.actor);
  const accept = (found: Authenticated | null): Actor => {
    if (found === null) throw createUnauthorized(authentication, INVALID, [...present]);
    if (found.readsCookies && present.has('cookie')) assertTrustedPage(request, pages); // 403
    request.bodySha256 = found.bodySha256;
    return admit(found.actor);
  };
  const certified = certificates?.verify(req.socket) ?? 'none';
  // Even if there is a valid token: a bad credential is never ignored.
  if (certified === 'rejected') throw createCertificateError();
  const hasHeader = present.size > 0 || headers.get('authorization') !== undefined;
  if (certified !== 'none' && !hasHeader) return admit(certified);
  const token = readToken(headers, authentication);
  if (present.size === 0) throw createUnauthorized(authentication, MISSING, credentialHeaders);
  const found = authenticateWith(chain, new RequestCredentials(req, token), present);
  return found instanceof Promise ? found.then(accept) : accept(found);
}

/** Whether the request has no credentials at all. */
export function isAnonymous(
  { headers, req, inProcess }: RequestContext,
  { certificates, credentialHeaders }: Authentication,
): boolean {
  if (inProcess !== null || findPresent(headers, credentialHeaders).size > 0) return false;
  return (certificates?.verify(req.socket) ?? 'none') === 'none';
}

/**
 * The scheme and the token of the `authorization` header; both empty without one.
 * @throws HostError 401 for a header that is malformed or repeated, and for two different tokens.
 */
function readToken(
  headers: CallerHeaders,
  authentication: Authentication,
): Pick<CallerCredentials, 'scheme' | 'token'> {
  const token = parseAuthorization(headers, authentication);
  const { tokenHeader } = authentication;
  const other = tokenHeader === null ? undefined : headers.get(tokenHeader);
  if (tokenHeader === null || other === undefined) return token;
  if (headers.count(tokenHeader) > 1) {
    const detail = `the request has two ${tokenHeader} headers`;
    throw createUnauthorized(authentication, { detail, reason: 'repeated' }, [tokenHeader]);
  }
  if (token.scheme === 'bearer' && token.token !== other) {
    throw createUnauthorized(authentication, TWO_TOKENS, ['authorization', tokenHeader]);
  }
  return token;
}

function parseAuthorization(
  headers: CallerHeaders,
  authentication: Authentication,
): Pick<CallerCredentials, 'scheme' | 'token'> {
  const authorization = headers.get('authorization');
  if (authorization === undefined) return NO_TOKEN;
  if (headers.count('authorization') > 1) {
    throw createUnauthorized(authentication, REPEATED, ['authorization']);
  }
  const match = CREDENTIALS.exec(authorization);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw createUnauthorized(authentication, INVALID, ['authorization']);
  }
  return { scheme: match[1].toLowerCase(), token: match[2] };
}

interface Rejection {
  readonly detail: string;
  /** The same for each header. */
  readonly reason: string;
}

const MISSING: Rejection = { detail: 'authentication is required', reason: 'missing' };
const INVALID: Rejection = { detail: 'the credentials are not valid', reason: 'not valid' };
const REPEATED: Rejection = {
  detail: 'the request has two authorization headers',
  reason: 'repeated',
};
const TWO_TOKENS: Rejection = {
  detail: 'the request has two different tokens',
  reason: 'another token than in the other header',
};

function createUnauthorized(
  authentication: Authentication,
  { detail, reason }: Rejection,
  headers: readonly string[],
): HostError {
  const errors = headers.map((field): ErrorDetail => ({ field, reason }));
  return new HostError('unauthorized', detail, {
    errors,
    nextActions: [adviseOn(authentication)],
  });
}

function adviseOn({ credentialHeaders, challenges }: Authentication): string {
  const [first, ...others] = credentialHeaders;
  if (others.length > 0) {
    return `send valid credentials in one of these headers: ${credentialHeaders.join(', ')}`;
  }
  const isBearer = first === 'authorization' && challenges.some((one) => /^bearer\b/i.test(one));
  return `send ${isBearer ? 'a valid bearer token' : 'valid credentials'} in the ${first} header`;
}

function createCertificateError(): HostError {
  return new HostError('unauthorized', 'the certificate of the connection is not valid', {
    errors: [{ field: 'certificate', reason: 'not valid' }],
    nextActions: ['connect with a valid client certificate, or without one'],
  });
}

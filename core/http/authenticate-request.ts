import { authenticateWith, type CallerCredentials } from '../auth/authenticate.js';
import type { Actor, Authenticator } from '../contract/index.js';
import { HostError } from '../errors.js';
import type { ActorRate } from '../operations/rate-limit.js';
import type { CallerHeaders } from './request/headers.js';
import type { RequestContext } from './request-context.js';
import type { ClientCertificates } from './tls/client-certificates.js';

/** How callers are identified, and how often each may call. */
export interface Authentication {
  /** In the order in which they are called. */
  readonly chain: readonly Authenticator[];
  /** `null`: client certificates are ignored. */
  readonly certificates: ClientCertificates | null;
  /** `null`: no limit. */
  readonly actorRate: ActorRate | null;
}

const CREDENTIALS = /^([A-Za-z][A-Za-z0-9._-]*) +(.+)$/;

/**
 * Sets the actor of the request: the one of its `authorization` header, otherwise the one of the client
 * certificate. A promise only if an authenticator needs one.
 * @throws HostError 401 for credentials that are missing, repeated or not valid; 503 when they cannot be
 * checked; 429.
 */
export function authenticate(
  request: RequestContext,
  { chain, certificates, actorRate }: Authentication,
): Actor | Promise<Actor> {
  const { headers, req } = request;
  const accept = (actor: Actor | null): Actor => {
    if (actor === null) throw createUnauthorized('the credentials are not valid', 'not valid');
    actorRate?.admit(actor);
    request.authenticated = actor;
    return actor;
  };
  const certified = certificates?.verify(req.socket) ?? 'none';
  // Even if there is a valid token: a bad credential is never ignored.
  if (certified === 'rejected') throw createCertificateError();
  if (certified !== 'none' && headers.get('authorization') === undefined) return accept(certified);
  const found = authenticateWith(chain, readCredentials(headers, req.socket.remoteAddress));
  return found instanceof Promise ? found.then(accept) : accept(found);
}

function readCredentials(headers: CallerHeaders, address: string | undefined): CallerCredentials {
  const authorization = headers.get('authorization');
  if (authorization === undefined) {
    throw createUnauthorized('authentication is required', 'missing');
  }
  if (headers.count('authorization') > 1) {
    throw createUnauthorized('the request has two authorization headers', 'repeated');
  }
  const match = CREDENTIALS.exec(authorization);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw createUnauthorized('the credentials are not valid', 'not valid');
  }
  return { scheme: match[1].toLowerCase(), token: match[2], address };
}

function createUnauthorized(detail: string, reason: string): HostError {
  return new HostError('unauthorized', detail, {
    errors: [{ field: 'authorization', reason }],
    nextActions: ['send a valid bearer token in the authorization header'],
  });
}

function createCertificateError(): HostError {
  return new HostError('unauthorized', 'the certificate of the connection is not valid', {
    errors: [{ field: 'certificate', reason: 'not valid' }],
    nextActions: ['connect with a valid client certificate, or without one'],
  });
}

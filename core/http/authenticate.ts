import { authenticateWith, type CallerCredentials } from '../auth/authenticate.js';
import type { Actor, Authenticator } from '../contract/index.js';
import { HostError } from '../errors.js';
import type { ActorRate } from '../operations/rate-limit.js';
import type { CallerHeaders } from './request/headers.js';
import type { HostContext } from './request-context.js';
import type { ClientCertificates } from './tls/client-certificates.js';

/** How callers are known, and how often each may call. */
export interface Authentication {
  /** In the order they are asked. */
  readonly chain: readonly Authenticator[];
  /** `null`: certificates of callers mean nothing. */
  readonly certificates: ClientCertificates | null;
  /** `null`: no limit. */
  readonly actorRate: ActorRate | null;
}

const CREDENTIALS = /^([A-Za-z][A-Za-z0-9._-]*) +(.+)$/;

/**
 * Who calls: what the `authorization` header says, else what the certificate of the connection says
 * (contract 3).
 * @throws HostError 401 when there are no credentials, two of them, or none that anybody knows; 503 when
 * nobody can say; 429.
 */
export async function authenticate(
  { state, req }: HostContext,
  { chain, certificates, actorRate }: Authentication,
): Promise<Actor> {
  const { headers } = state.exchange;
  const shown = certificates?.verify(req.socket) ?? 'none';
  // Also beside a good token: a credential that is bad is never passed over.
  if (shown === 'rejected') throw createCertificateError();
  const actor =
    shown === 'none' || headers.get('authorization') !== undefined
      ? await authenticateWith(chain, readCredentials(headers, req.socket.remoteAddress))
      : shown;
  if (actor === null) throw unauthorized('the credentials are not valid', 'not valid');
  actorRate?.admit(actor);
  return actor;
}

function readCredentials(headers: CallerHeaders, address: string | undefined): CallerCredentials {
  const authorization = headers.get('authorization');
  if (authorization === undefined) throw unauthorized('authentication is required', 'missing');
  if (headers.count('authorization') > 1) {
    throw unauthorized('the request has two authorization headers', 'repeated');
  }
  const match = CREDENTIALS.exec(authorization);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw unauthorized('the credentials are not valid', 'not valid');
  }
  return { scheme: match[1].toLowerCase(), token: match[2], address };
}

function unauthorized(detail: string, reason: string): HostError {
  return new HostError('unauthorized', detail, {
    errors: [{ field: 'authorization', reason }],
    nextActions: ['send a bearer token that this host knows in the authorization header'],
  });
}

function createCertificateError(): HostError {
  return new HostError('unauthorized', 'the certificate of the connection is not valid', {
    errors: [{ field: 'certificate', reason: 'not valid' }],
    nextActions: ['connect with a certificate that this host knows, or with none'],
  });
}

import type { Actor, Authenticator, Credentials } from '../contract/index.js';
import { HostError } from '../errors.js';
import type { CallerHeaders } from './caller-headers.js';

const CREDENTIALS = /^([A-Za-z][A-Za-z0-9._-]*) +(.+)$/;

/**
 * Asks the chain; the first actor wins (contract 3).
 * @throws HostError 401 when there are no credentials, two of them, or none that anybody knows.
 */
export async function authenticate(
  headers: CallerHeaders,
  authenticators: readonly Authenticator[],
): Promise<Actor> {
  const credentials = readCredentials(headers);
  for (const authenticator of authenticators) {
    const actor = await authenticator.authenticate(credentials);
    if (actor !== null) return actor;
  }
  throw unauthorized('the credentials are not valid', 'not valid');
}

function readCredentials(headers: CallerHeaders): Credentials {
  const authorization = headers.get('authorization');
  if (authorization === undefined) throw unauthorized('authentication is required', 'missing');
  if (headers.count('authorization') > 1) {
    throw unauthorized('the request has two authorization headers', 'repeated');
  }
  const match = CREDENTIALS.exec(authorization);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw unauthorized('the credentials are not valid', 'not valid');
  }
  return { scheme: match[1].toLowerCase(), token: match[2] };
}

function unauthorized(detail: string, reason: string): HostError {
  return new HostError('unauthorized', detail, {
    errors: [{ field: 'authorization', reason }],
    nextActions: ['send a bearer token that this host knows in the authorization header'],
  });
}

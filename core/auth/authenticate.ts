import { HostError } from '../errors.js';
import type { CallerCredentials } from './caller-credentials.js';
import type { Authenticated, CheckedAuthenticator } from './checked-authenticator.js';

/** The credential headers of a request with a token in `authorization` alone. */
export const AUTHORIZATION_ONLY: ReadonlySet<string> = new Set(['authorization']);

/**
 * Calls the authenticators in order; the first actor wins. One that reads none of the present headers, or
 * throws, is skipped. A promise is returned only if an authenticator returns one.
 * @param present the credential headers of the request
 * @returns `null` when every authenticator has rejected the credentials.
 * @throws HostError 503 when one of them failed and no other knows the credentials: they may be valid, so
 * the client must not discard them.
 */
export function authenticateWith(
  [first, ...rest]: readonly CheckedAuthenticator[],
  credentials: CallerCredentials,
  present: ReadonlySet<string>,
  failure: { readonly cause: unknown } | null = null,
): Authenticated | null | Promise<Authenticated | null> {
  if (first === undefined) {
    if (failure === null) return null;
    throw createUnverifiedError(failure.cause, present);
  }
  const tryRest = (found: Authenticated | null) =>
    found ?? authenticateWith(rest, credentials, present, failure);
  if (!first.reads.some((name) => present.has(name))) return tryRest(null);
  const skip = (cause: unknown) =>
    authenticateWith(rest, credentials, present, failure ?? { cause });
  let found: Authenticated | null | Promise<Authenticated | null>;
  try {
    found = first.authenticate(credentials);
  } catch (cause) {
    return skip(cause);
  }
  return found instanceof Promise ? found.then(tryRest, skip) : tryRest(found);
}

function createUnverifiedError(cause: unknown, present: ReadonlySet<string>): HostError {
  return new HostError('unavailable', 'the credentials cannot be verified now', {
    cause,
    errors: [...present].map((field) => ({ field, reason: 'not verified' })),
    nextActions: ['try again later'],
    headers: { 'retry-after': '1' },
  });
}

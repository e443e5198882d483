import type { Actor, Authenticator, Credentials } from '../contract/index.js';
import { HostError } from '../errors.js';

/** What a request presents. */
export interface CallerCredentials extends Credentials {
  /** Remote address of the connection, where there is one. */
  readonly address?: string | undefined;
}

/**
 * Calls the authenticators in order; the first actor wins. One that throws is skipped. A promise is returned
 * only if an authenticator returns one.
 * @returns `null` when every authenticator has rejected the credentials.
 * @throws HostError 503 when one of them failed and no other knows the credentials: they may be valid, so
 * the client must not discard them.
 */
export function authenticateWith(
  [first, ...rest]: readonly Authenticator[],
  credentials: CallerCredentials,
  failure: { readonly cause: unknown } | null = null,
): Actor | null | Promise<Actor | null> {
  if (first === undefined) {
    if (failure === null) return null;
    throw createUnverifiedError(failure.cause);
  }
  const tryRest = (actor: Actor | null) => actor ?? authenticateWith(rest, credentials, failure);
  const skip = (cause: unknown) => authenticateWith(rest, credentials, failure ?? { cause });
  let found: Actor | null | Promise<Actor | null>;
  try {
    found = first.authenticate(credentials);
  } catch (cause) {
    return skip(cause);
  }
  return found instanceof Promise ? found.then(tryRest, skip) : tryRest(found);
}

function createUnverifiedError(cause: unknown): HostError {
  return new HostError('unavailable', 'the credentials cannot be verified now', {
    cause,
    errors: [{ field: 'authorization', reason: 'not verified' }],
    nextActions: ['try again later'],
    headers: { 'retry-after': '1' },
  });
}

import { createUnavailable, type HostError } from '../errors.js';
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
  chain: readonly CheckedAuthenticator[],
  credentials: CallerCredentials,
  present: ReadonlySet<string>,
): Authenticated | null | Promise<Authenticated | null> {
  let failure: { readonly cause: unknown } | null = null;
  const tryFrom = (start: number): Authenticated | null | Promise<Authenticated | null> => {
    for (let at = start; at < chain.length; at += 1) {
      const authenticator = chain[at] as CheckedAuthenticator;
      if (!authenticator.reads.some((name) => present.has(name))) continue;
      try {
        const found = authenticator.authenticate(credentials);
        if (found instanceof Promise) {
          const skip = (cause: unknown) => {
            failure ??= { cause };
            return tryFrom(at + 1);
          };
          return found.then((actor) => actor ?? tryFrom(at + 1), skip);
        }
        if (found !== null) return found;
      } catch (cause) {
        failure ??= { cause };
      }
    }
    if (failure === null) return null;
    throw createUnverifiedError(failure.cause, present);
  };
  return tryFrom(0);
}

function createUnverifiedError(cause: unknown, present: ReadonlySet<string>): HostError {
  return createUnavailable('the credentials cannot be verified now', {
    cause,
    errors: [...present].map((field) => ({ field, reason: 'not verified' })),
  });
}

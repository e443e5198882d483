import { CREDENTIAL_REASONS } from '../contract/index.js';
import { createUnavailable, type HostError } from '../errors.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import type { CallerCredentials } from './caller-credentials.js';
import {
  type Authenticated,
  type CheckedAuthenticator,
  isRejected,
  type Rejected,
  UNKNOWN_CREDENTIALS,
} from './checked-authenticator.js';

/** The credential headers of a request with a token in `authorization` alone. */
export const AUTHORIZATION_ONLY: ReadonlySet<string> = new Set(['authorization']);

type Result = Authenticated | Rejected;

const TOO_LONG: Rejected = { rejected: 'too_long', token: null, detail: null };

/**
 * Calls the authenticators in order; the first actor wins. An authenticator that reads none of the
 * present headers, or throws, is skipped. A promise is returned only if an authenticator returns
 * one.
 * @param present the credential headers of the request
 * @returns the most specific rejection when every authenticator has rejected the credentials
 * @throws HostError 503 when one of them failed and no other accepts the credentials: they may be
 * valid, so the client must not discard them.
 */
export function authenticateWith(
  chain: readonly CheckedAuthenticator[],
  credentials: CallerCredentials,
  present: ReadonlySet<string>,
): Result | Promise<Result> {
  let failure: { readonly cause: unknown } | null = null;
  let rejected = credentials.token.length > MAX_TOKEN_LENGTH ? TOO_LONG : UNKNOWN_CREDENTIALS;
  const isAccepted = (result: Result): boolean => {
    if (!isRejected(result)) return true;
    if (rank(result) > rank(rejected)) rejected = result;
    return false;
  };
  const tryFrom = (start: number): Result | Promise<Result> => {
    for (let index = start; index < chain.length; index += 1) {
      const authenticator = chain[index] as CheckedAuthenticator;
      if (!authenticator.reads.some((name) => present.has(name))) continue;
      try {
        const result = authenticator.authenticate(credentials);
        if (result instanceof Promise) {
          const skip = (cause: unknown) => {
            failure ??= { cause };
            return tryFrom(index + 1);
          };
          return result.then((later) => (isAccepted(later) ? later : tryFrom(index + 1)), skip);
        }
        if (isAccepted(result)) return result;
      } catch (cause) {
        failure ??= { cause };
      }
    }
    if (failure === null) return rejected;
    throw createUnverifiedError(failure.cause, present);
  };
  return tryFrom(0);
}

function rank({ rejected }: Rejected): number {
  return CREDENTIAL_REASONS.indexOf(rejected);
}

function createUnverifiedError(cause: unknown, present: ReadonlySet<string>): HostError {
  return createUnavailable('the credentials cannot be verified now', {
    cause,
    step: 'actor',
    reason: 'unavailable',
    errors: [...present].map((field) => ({ field, reason: 'not verified' })),
  });
}

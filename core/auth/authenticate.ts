import type { Actor, Authenticator, Credentials } from '../contract/index.js';
import { HostError } from '../errors.js';

/** What a request presents. */
export interface CallerCredentials extends Credentials {
  /** Remote address of the connection, where there is one. */
  readonly address?: string | undefined;
}

/**
 * Tries the authenticators in order; the first actor wins. One that throws is skipped.
 * @returns `null` when all of them reject the credentials.
 * @throws HostError 503 when one of them failed and no other accepts the credentials: they may be valid, so
 * the caller must not discard them.
 */
export async function authenticateWith(
  chain: readonly Authenticator[],
  credentials: CallerCredentials,
): Promise<Actor | null> {
  let failure: { readonly cause: unknown } | null = null;
  for (const authenticator of chain) {
    try {
      const result = authenticator.authenticate(credentials);
      // A synchronous result saves the caller a turn of the event loop.
      const actor = result instanceof Promise ? await result : result;
      if (actor !== null) return actor;
    } catch (cause) {
      failure ??= { cause };
    }
  }
  if (failure === null) return null;
  throw new HostError('unavailable', 'the credentials cannot be verified now', {
    ...failure,
    errors: [{ field: 'authorization', reason: 'not verified' }],
    nextActions: ['try again later'],
    headers: { 'retry-after': '1' },
  });
}

import type { Actor, Authenticator, Credentials } from '../contract/index.js';
import { HostError } from '../errors.js';

/**
 * Asks the chain in its order; the first actor wins (contract 3). One that throws has said nothing, and the
 * rest is asked.
 * @returns `null` when every one of them has said that it does not know the credentials.
 * @throws HostError 503 when one of them could not say, and no other knows the credentials: they may be
 * good, so the caller must not be told to throw them away.
 */
export async function authenticateWith(
  chain: readonly Authenticator[],
  credentials: Credentials,
): Promise<Actor | null> {
  let failure: { readonly cause: unknown } | null = null;
  for (const authenticator of chain) {
    try {
      const answered = authenticator.authenticate(credentials);
      // Who knows at once keeps nobody waiting.
      const actor = answered instanceof Promise ? await answered : answered;
      if (actor !== null) return actor;
    } catch (cause) {
      failure ??= { cause };
    }
  }
  if (failure === null) return null;
  throw new HostError('unavailable', 'the credentials cannot be judged now', {
    ...failure,
    errors: [{ field: 'authorization', reason: 'not judged' }],
    nextActions: ['try again later'],
    headers: { 'retry-after': '1' },
  });
}

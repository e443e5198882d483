import { ACTOR_KINDS, type Actor, type Authenticator, type Log } from '../contract/index.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import { UncaughtErrors } from '../isolation/uncaught-errors.js';
import { withTimeout } from '../lib/promises.js';
import { withFields } from '../log/logger.js';
import { ACTOR_ID, SCOPE } from './actor-syntax.js';

/** The default of `limits.timeout_ms`: authentication takes no longer than a call. */
const RESPONSE_TIMEOUT_MS = 5000;
/** Waiting requests per authenticator: limits the cost of one that hangs. */
const MAX_WAITING = 1024;

/**
 * Authenticators are third-party code: each has a deadline, and its actor is validated. Any other behavior
 * becomes an error, logged at most once a second.
 * @param owner receives its uncaught errors; `null` for the host's own
 */
export function createCheckedAuthenticator(
  authenticator: Authenticator,
  log: Log,
  owner: ErrorOwner | null = null,
): Authenticator {
  const { name } = authenticator;
  const failures = new UncaughtErrors(
    withFields(log, { authenticator: name }),
    'authenticator failed',
  );
  const createLateError = () =>
    new Error(`authenticator '${name}' did not respond within ${RESPONSE_TIMEOUT_MS} ms`);
  let waiting = 0;

  const settle = async (result: Promise<unknown>): Promise<Actor | null> => {
    waiting += 1;
    try {
      return validateActor(await withTimeout(result, RESPONSE_TIMEOUT_MS, createLateError), name);
    } catch (error) {
      failures.report(error);
      throw error;
    } finally {
      waiting -= 1;
    }
  };
  return {
    name,
    authenticate: (credentials) => {
      try {
        if (waiting >= MAX_WAITING) {
          throw new Error(`authenticator '${name}' keeps ${MAX_WAITING} requests waiting`);
        }
        const result: unknown = runAs(owner, () => authenticator.authenticate(credentials));
        return isThenable(result) ? settle(Promise.resolve(result)) : validateActor(result, name);
      } catch (error) {
        failures.report(error);
        throw error;
      }
    },
  };
}

/** Receives uncaught errors of a plugin's authenticator. */
export function createAuthenticatorOwner(log: Log, name: string): UncaughtErrors {
  return new UncaughtErrors(
    withFields(log, { authenticator: name }),
    'uncaught error in authenticator code',
  );
}

function isThenable(result: unknown): result is PromiseLike<unknown> {
  return typeof (result as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** @throws Error for anything but an actor or `null`. */
function validateActor(result: unknown, name: string): Actor | null {
  if (result === null) return null;
  const { kind, id, scopes } = (result ?? {}) as Partial<Actor>;
  if (!ACTOR_KINDS.some((known) => known === kind)) throw invalidActor(name, 'kind');
  if (typeof id !== 'string' || !ACTOR_ID.test(id)) throw invalidActor(name, 'id');
  if (!(scopes instanceof Set)) throw invalidActor(name, 'scopes');
  for (const scope of scopes as ReadonlySet<unknown>) {
    if (typeof scope !== 'string' || !SCOPE.test(scope)) throw invalidActor(name, 'scopes');
  }
  return result as Actor;
}

function invalidActor(name: string, member: string): Error {
  return new Error(`authenticator '${name}' returned an actor with an invalid '${member}'`);
}

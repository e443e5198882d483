import { ACTOR_KINDS, type Actor, type Authenticator, type Log } from '../contract/index.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import { UncaughtErrors } from '../isolation/uncaught-errors.js';
import { withTimeout } from '../lib/promises.js';
import { withFields } from '../log/logger.js';
import { ACTOR_ID, SCOPE } from './actor-syntax.js';

/** A caller waits no longer to be known than for its answer (the default of `limits.timeout_ms`). */
const ANSWER_TIMEOUT_MS = 5000;
/** Of one authenticator: what one that hangs may hold of the host. */
const MAX_WAITING = 1024;

/**
 * An authenticator may be anybody's: it has a deadline, and its actor is judged before it is believed.
 * Whatever else it does is a throw of this one, and logged at most once a second.
 * @param owner who answers for its code; `null`: the host
 */
export function createCheckedAuthenticator(
  authenticator: Authenticator,
  log: Log,
  owner: ErrorOwner | null = null,
): Authenticator {
  const { name } = authenticator;
  const failures = new UncaughtErrors(
    withFields(log, { authenticator: name }),
    'an authenticator failed',
  );
  const createLateError = () =>
    new Error(`authenticator '${name}' did not answer within ${ANSWER_TIMEOUT_MS} ms`);
  let waiting = 0;

  const wait = async (answer: Promise<unknown>): Promise<Actor | null> => {
    waiting += 1;
    try {
      return validateActor(await withTimeout(answer, ANSWER_TIMEOUT_MS, createLateError), name);
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
          throw new Error(`authenticator '${name}' has left ${MAX_WAITING} requests waiting`);
        }
        const answer: unknown = runAs(owner, () => authenticator.authenticate(credentials));
        return isThenable(answer) ? wait(Promise.resolve(answer)) : validateActor(answer, name);
      } catch (error) {
        failures.report(error);
        throw error;
      }
    },
  };
}

/** The errors that an authenticator of a plugin leaves uncaught. */
export function createAuthenticatorOwner(log: Log, name: string): UncaughtErrors {
  return new UncaughtErrors(
    withFields(log, { authenticator: name }),
    'the code of an authenticator left an error uncaught',
  );
}

function isThenable(answer: unknown): answer is PromiseLike<unknown> {
  return typeof (answer as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** Only `null` says that nobody is known: any other answer must be an actor. */
function validateActor(answer: unknown, name: string): Actor | null {
  if (answer === null) return null;
  const { kind, id, scopes } = (answer ?? {}) as Partial<Actor>;
  if (!ACTOR_KINDS.some((known) => known === kind)) throw invalidActor(name, 'kind');
  if (typeof id !== 'string' || !ACTOR_ID.test(id)) throw invalidActor(name, 'id');
  if (!(scopes instanceof Set)) throw invalidActor(name, 'scopes');
  for (const scope of scopes as ReadonlySet<unknown>) {
    if (typeof scope !== 'string' || !SCOPE.test(scope)) throw invalidActor(name, 'scopes');
  }
  return answer as Actor;
}

function invalidActor(name: string, member: string): Error {
  return new Error(`authenticator '${name}' answered with an actor without valid '${member}'`);
}

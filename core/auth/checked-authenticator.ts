import type {
  Actor,
  AuthenticationResult,
  Authenticator,
  CredentialReason,
  Log,
  RejectedCredentials,
} from '../contract/index.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import { UncaughtErrors } from '../isolation/uncaught-errors.js';
import { findResultProblem } from '../lib/authentication-result.js';
import { readDeclaration } from '../lib/authenticator-declaration.js';
import { withTimeout } from '../lib/promises.js';
import { withFields } from '../log/logger.js';
import type { AcceptedTokens } from './accepted-tokens.js';
import type { CallerCredentials } from './caller-credentials.js';
import type { AuthenticatedActor, Roles } from './roles.js';

/** The default of `limits.timeout_ms`: authentication takes no longer than a call. */
const RESPONSE_TIMEOUT_MS = 5000;
/** Waiting requests per authenticator: limits the cost of one that hangs. */
const MAX_WAITING = 1024;

/** The caller of a request. */
export interface Authenticated {
  readonly actor: Actor;
  /** The SHA-256 of the body that the credentials cover, in hex; `null` for credentials of any body. */
  readonly bodySha256: string | null;
  /** Whether the authenticator reads cookies, which browsers add to requests of any page. */
  readonly readsCookies: boolean;
}

export interface Rejected {
  readonly rejected: CredentialReason;
  /** The entry of the tokens file, or the id of the key, that they name; `null` for none. */
  readonly token: string | null;
  /** The name of the header or claim of the token that is the cause; `null` for none. */
  readonly detail: string | null;
}

export const UNKNOWN_CREDENTIALS: Rejected = { rejected: 'unknown', token: null, detail: null };

export function isRejected(result: Authenticated | Rejected): result is Rejected {
  return 'rejected' in result;
}

/** An authenticator of the chain, whose results are validated. */
export interface CheckedAuthenticator {
  readonly name: string;
  /** The headers that hold its credentials, in lower case. */
  readonly reads: readonly string[];
  /** The challenges in the response with status 401. */
  readonly challenges: readonly string[];
  authenticate(
    credentials: CallerCredentials,
  ): Authenticated | Rejected | Promise<Authenticated | Rejected>;
}

/**
 * Wraps an authenticator, which is third-party code: each call has a deadline, and its actor is
 * validated. Invalid behavior becomes an error, logged at most once a second.
 * @param roles add their scopes to its actors
 * @param owner receives its uncaught errors; `null` for an authenticator of the host
 * @param tokens keeps accepted tokens of the issuers file
 * @throws Error for invalid `reads` or `challenges`.
 */
export function createCheckedAuthenticator(
  authenticator: Authenticator,
  log: Log,
  roles: Roles,
  owner: ErrorOwner | null,
  tokens: AcceptedTokens | null = null,
): CheckedAuthenticator {
  const { name } = authenticator;
  const { reads, challenges } = readDeclaration(authenticator);
  const readsCookies = reads.includes('cookie');
  const failures = new UncaughtErrors(
    withFields(log, { authenticator: name }),
    'authenticator failed',
  );
  const createLateError = () =>
    new Error(`authenticator '${name}' did not respond within ${RESPONSE_TIMEOUT_MS} ms`);
  const checked = { name, readsCookies, roles, isBuiltIn: owner === null };
  const validate = (result: unknown, { token }: CallerCredentials) => {
    const outcome = validateResult(result, checked);
    if (tokens?.isWanted && 'actor' in outcome) tokens.keep(result as Actor, outcome.actor, token);
    return outcome;
  };
  let waiting = 0;

  const settle = async (
    result: Promise<unknown>,
    credentials: CallerCredentials,
  ): Promise<Authenticated | Rejected> => {
    waiting += 1;
    try {
      const settled = await withTimeout(result, RESPONSE_TIMEOUT_MS, createLateError);
      return validate(settled, credentials);
    } catch (error) {
      failures.report(error);
      throw error;
    } finally {
      waiting -= 1;
    }
  };
  return {
    name,
    reads,
    challenges,
    authenticate: (credentials) => {
      try {
        if (waiting >= MAX_WAITING) {
          throw new Error(`authenticator '${name}' keeps ${MAX_WAITING} requests waiting`);
        }
        const result: unknown = runAs(owner, () => authenticator.authenticate(credentials));
        return isThenable(result)
          ? settle(Promise.resolve(result), credentials)
          : validate(result, credentials);
      } catch (error) {
        failures.report(error);
        throw error;
      }
    },
  };
}

/** Receives uncaught errors of a plugin's authenticator. */
export function createAuthenticatorOwner(log: Log): UncaughtErrors {
  return new UncaughtErrors(log, 'uncaught error in authenticator code');
}

function isThenable(result: unknown): result is PromiseLike<unknown> {
  return typeof (result as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

interface CheckedResult {
  readonly name: string;
  readonly readsCookies: boolean;
  readonly roles: Roles;
  /**
   * Only authenticators of the host may name tokens and claims: a plugin could expose a part of the
   * credential.
   */
  readonly isBuiltIn: boolean;
}

/**
 * @throws Error unless the result is an actor, with or without a body digest, a reason, or `null`.
 */
function validateResult(result: unknown, checked: CheckedResult): Authenticated | Rejected {
  const { name, readsCookies, isBuiltIn } = checked;
  const problem = findResultProblem(result);
  if (problem !== null) throw new Error(`authenticator '${name}' ${problem}`);
  const valid = result as AuthenticationResult;
  if (valid === null) return UNKNOWN_CREDENTIALS;
  if ('rejected' in valid) {
    const {
      rejected,
      token = null,
      detail = null,
    } = valid as RejectedCredentials & Partial<Rejected>;
    return isBuiltIn ? { rejected, token, detail } : { rejected, token: null, detail: null };
  }
  if (!('actor' in valid))
    return { actor: readActor(valid, checked), bodySha256: null, readsCookies };
  const { actor, bodySha256 } = valid;
  return { actor: readActor(actor, checked), bodySha256, readsCookies };
}

function readActor(actor: Actor, { name, roles, isBuiltIn }: CheckedResult): Actor {
  // Only authenticators of the host may limit the scopes of roles: the contract has no such member.
  return roles.resolve(isBuiltIn ? actor : withoutBounds(actor), name);
}

function withoutBounds(actor: AuthenticatedActor): AuthenticatedActor {
  if (actor.allowedScopes === undefined) return actor;
  const { allowedScopes: _unknown, ...contractActor } = actor;
  return contractActor;
}

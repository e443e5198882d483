import { AuthenticatorHarness } from './authenticator-harness.js';
import type { AuthenticatorSubject } from './authenticator-subject.js';
import type { ClauseResult } from './clause.js';
import { AUTHENTICATION } from './clauses/authentication.js';
import {
  assertKnownExceptions,
  type Harnesses,
  type RunOptions,
  runClauses,
} from './run-clauses.js';
import { findFramework, registerClauses, type TestFramework } from './test-framework.js';

const CLAUSE_TIMEOUT_MS = 60_000;

/**
 * Registers one test a clause of the authenticator contract. Call it where `describe` may be called;
 * nothing of the authenticator runs before the tests do.
 *
 * `framework` is `{ describe, it }` of `node:test` or of another; default the global ones, as in mocha.
 * @throws Error when there is no framework, or `subject.except` names an unknown clause.
 */
export function authenticatorSuite(subject: AuthenticatorSubject, framework?: TestFramework): void {
  const title = `authenticator '${subject.name}' keeps the contract`;
  registerClauses(findFramework(framework), title, AUTHENTICATION, createHarnesses(subject));
}

/**
 * Runs the same clauses without a test framework, one after the other, and answers what became of each.
 * Rejects only as {@link authenticatorSuite} throws.
 */
export async function runAuthenticatorClauses(
  subject: AuthenticatorSubject,
  options: RunOptions = {},
): Promise<ClauseResult[]> {
  return runClauses(AUTHENTICATION, createHarnesses(subject), options);
}

function createHarnesses(subject: AuthenticatorSubject): Harnesses<AuthenticatorHarness> {
  const except = subject.except ?? {};
  assertKnownExceptions(except, AUTHENTICATION);
  return {
    start: () => AuthenticatorHarness.start(subject),
    end: (bench) => bench.stop(),
    except,
    timeoutMs: CLAUSE_TIMEOUT_MS,
  };
}

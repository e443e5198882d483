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
 * Registers one test per clause of the authenticator contract. Call it where `describe` may be called.
 * The authenticator runs only in the tests.
 *
 * `framework` is `{ describe, it }`, such as those of `node:test`. Default: the globals, as in mocha.
 * @throws Error when there is no framework, or `subject.except` has an unknown id.
 */
export function authenticatorSuite(subject: AuthenticatorSubject, framework?: TestFramework): void {
  const title = `authenticator '${subject.name}' conforms to the contract`;
  registerClauses(findFramework(framework), title, AUTHENTICATION, createHarnesses(subject));
}

/**
 * Runs the same clauses in sequence without a test framework. Resolves with the result of each.
 * Rejects only where {@link authenticatorSuite} throws.
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
    end: (harness) => harness.stop(),
    except,
    timeoutMs: CLAUSE_TIMEOUT_MS,
  };
}

import { AuthenticatorHarness } from './authenticator-harness.js';
import type { AuthenticatorSubject } from './authenticator-subject.js';
import type { ClauseResult } from './clause.js';
import { AUTHENTICATION } from './clauses/authentication.js';
import { createSuite } from './create-suite.js';
import type { RunOptions } from './run-clauses.js';
import type { TestFramework } from './test-framework.js';

const suite = createSuite({
  clauses: AUTHENTICATION,
  timeoutMs: 60_000,
  nameOf: ({ name }: AuthenticatorSubject) => `authenticator '${name}'`,
  start: (subject) => AuthenticatorHarness.start(subject),
});

/**
 * Registers one test per clause of the authenticator contract. Call it where `describe` may be called.
 * The authenticator runs only in the tests.
 *
 * `framework` is `{ describe, it }`, such as those of `node:test`. Default: the globals, as in mocha.
 * @throws Error when there is no framework, or `subject.except` has an unknown id.
 */
export function authenticatorSuite(subject: AuthenticatorSubject, framework?: TestFramework): void {
  suite.register(subject, framework);
}

/**
 * Runs the same clauses in sequence without a test framework. Resolves with the result of each.
 * Rejects only where {@link authenticatorSuite} throws.
 */
export async function runAuthenticatorClauses(
  subject: AuthenticatorSubject,
  options: RunOptions = {},
): Promise<ClauseResult[]> {
  return suite.run(subject, options);
}

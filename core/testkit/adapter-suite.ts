import { ADAPTER_CLAUSES } from './adapter-clauses.js';
import { AdapterHarness } from './adapter-harness.js';
import type { AdapterSubject } from './adapter-subject.js';
import type { ClauseResult } from './clause.js';
import { createSuite } from './create-suite.js';
import type { RunOptions } from './run-clauses.js';
import type { TestFramework } from './test-framework.js';

const suite = createSuite({
  clauses: ADAPTER_CLAUSES,
  timeoutMs: 120_000,
  nameOf: ({ adapter }: AdapterSubject) => `adapter '${adapter.kind}'`,
  start: (subject) => AdapterHarness.start(subject),
});

/**
 * Registers one test per clause of the adapter contract. Call it where `describe` may be called. The
 * adapter runs only in the tests.
 *
 * `framework` is `{ describe, it }`, such as those of `node:test`. Default: the globals, as in mocha.
 * @throws Error when there is no framework, or `subject.except` has an unknown id.
 */
export function adapterSuite(subject: AdapterSubject, framework?: TestFramework): void {
  suite.register(subject, framework);
}

/**
 * Runs the same clauses in sequence without a test framework. Resolves with the result of each.
 * Rejects only where {@link adapterSuite} throws.
 */
export async function runAdapterClauses(
  subject: AdapterSubject,
  options: RunOptions = {},
): Promise<ClauseResult[]> {
  return suite.run(subject, options);
}

import { ADAPTER_CLAUSES } from './adapter-clauses.js';
import { AdapterHarness } from './adapter-harness.js';
import type { AdapterSubject } from './adapter-subject.js';
import type { ClauseResult } from './clause.js';
import {
  assertKnownExceptions,
  type Harnesses,
  type RunOptions,
  runClauses,
} from './run-clauses.js';
import { findFramework, registerClauses, type TestFramework } from './test-framework.js';

const CLAUSE_TIMEOUT_MS = 120_000;

/**
 * Registers one test per clause of the adapter contract. Call it where `describe` may be called. The
 * adapter runs only in the tests.
 *
 * `framework` is `{ describe, it }`, such as those of `node:test`. Default: the globals, as in mocha.
 * @throws Error when there is no framework, or `subject.except` has an unknown id.
 */
export function adapterSuite(subject: AdapterSubject, framework?: TestFramework): void {
  const title = `adapter '${subject.adapter.kind}' conforms to the contract`;
  registerClauses(findFramework(framework), title, ADAPTER_CLAUSES, createHarnesses(subject));
}

/**
 * Runs the same clauses in sequence without a test framework. Resolves with the result of each.
 * Rejects only where {@link adapterSuite} throws.
 */
export async function runAdapterClauses(
  subject: AdapterSubject,
  options: RunOptions = {},
): Promise<ClauseResult[]> {
  return runClauses(ADAPTER_CLAUSES, createHarnesses(subject), options);
}

function createHarnesses(subject: AdapterSubject): Harnesses<AdapterHarness> {
  const except = subject.except ?? {};
  assertKnownExceptions(except, ADAPTER_CLAUSES);
  return {
    start: () => AdapterHarness.start(subject),
    end: (harness) => harness.end(),
    except,
    timeoutMs: CLAUSE_TIMEOUT_MS,
  };
}

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
 * Registers one test a clause of the adapter contract, for the adapter of `subject`. Call it where
 * `describe` may be called; nothing of the adapter runs before the tests do.
 *
 * `framework` is `{ describe, it }` of `node:test` or of another; default the global ones, as in mocha.
 * @throws Error when there is no framework, or `subject.except` names an unknown clause.
 */
export function adapterSuite(subject: AdapterSubject, framework?: TestFramework): void {
  const title = `adapter '${subject.adapter.kind}' keeps the contract`;
  registerClauses(findFramework(framework), title, ADAPTER_CLAUSES, createHarnesses(subject));
}

/**
 * Runs the same clauses without a test framework, one after the other, and answers what became of each.
 * Rejects only as {@link adapterSuite} throws.
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
    end: (bench) => bench.end(),
    except,
    timeoutMs: CLAUSE_TIMEOUT_MS,
  };
}

import { AdapterBench } from './adapter-bench.js';
import { ADAPTER_CLAUSES, type AdapterClause } from './adapter-clauses.js';
import type { AdapterSubject } from './adapter-subject.js';
import type { ClauseResult } from './clause.js';
import { type Benches, refuseUnknownExceptions, runClause } from './run-clauses.js';
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
  const benches = createBenches(subject);
  registerClauses(
    findFramework(framework),
    `adapter '${subject.adapter.kind}' keeps the contract`,
    ADAPTER_CLAUSES,
    (clause) => runClause(clause, benches),
  );
}

/** What {@link runAdapterClauses} does beside the defaults. */
export interface RunOptions {
  /** The ids of the clauses to run; default all. */
  readonly only?: readonly string[];
  /** Called with each result as soon as it is there. */
  readonly onResult?: (result: ClauseResult) => void;
}

/**
 * Runs the same clauses without a test framework, one after the other, and answers what became of each.
 * Rejects only as {@link adapterSuite} throws.
 */
export async function runAdapterClauses(
  subject: AdapterSubject,
  options: RunOptions = {},
): Promise<ClauseResult[]> {
  const benches = createBenches(subject);
  const results: ClauseResult[] = [];
  for (const clause of selectClauses(options.only)) {
    const result = await runClause(clause, benches);
    options.onResult?.(result);
    results.push(result);
  }
  return results;
}

function createBenches(subject: AdapterSubject): Benches<AdapterBench> {
  const except = subject.except ?? {};
  refuseUnknownExceptions(except, ADAPTER_CLAUSES);
  return {
    start: () => AdapterBench.start(subject),
    end: (bench) => bench.end(),
    except,
    timeoutMs: CLAUSE_TIMEOUT_MS,
  };
}

function selectClauses(only: readonly string[] | undefined): readonly AdapterClause[] {
  if (only === undefined) return ADAPTER_CLAUSES;
  return ADAPTER_CLAUSES.filter(({ id }) => only.includes(id));
}

import type { Clause } from './clause.js';
import { type Harness, type Harnesses, runClause } from './run-clauses.js';

/**
 * The functions of a test framework that the suites need: `describe` and `it` of mocha, `node:test`
 * or a compatible one.
 */
export interface TestFramework {
  /** Groups tests. Runs `body` synchronously. */
  describe(title: string, body: () => void): unknown;
  /** Registers a test that fails when the promise rejects. `this` may have `skip` and `timeout`, as in mocha. */
  it(title: string, body: (this: unknown) => Promise<void>): unknown;
}

/** The part of `this` in a test of mocha or `node:test` that is used. */
interface TestContext {
  skip?(reason?: string): void;
  timeout?: unknown;
}

/** @returns the given framework, otherwise the global `describe` and `it`. */
export function findFramework(chosen: TestFramework | undefined): TestFramework {
  const framework = chosen ?? (globalThis as Partial<TestFramework>);
  if (typeof framework.describe === 'function' && typeof framework.it === 'function') {
    return framework as TestFramework;
  }
  throw new Error('no global describe and it: pass { describe, it } of node:test');
}

/** Registers one test per clause. A clause that does not apply is skipped with its reason. */
export function registerClauses<H extends Harness>(
  framework: TestFramework,
  title: string,
  clauses: readonly Clause<H>[],
  harnesses: Harnesses<H>,
): void {
  framework.describe(title, () => {
    for (const clause of clauses) {
      framework.it(`${clause.id}: ${clause.title}`, async function (this: unknown) {
        const test = (this ?? {}) as TestContext;
        // A clause has its own time limit; mocha's default is 2 s.
        if (typeof test.timeout === 'function') test.timeout(0);
        const { status, reason, error } = await runClause(clause, harnesses);
        if (status === 'fail') throw error;
        if (status === 'skip') test.skip?.(reason ?? undefined);
      });
    }
  });
}

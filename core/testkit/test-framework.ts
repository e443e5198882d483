import type { Clause } from './clause.js';
import { type Harnesses, runClause } from './run-clauses.js';

/**
 * What the suites need of a test framework: the `describe` and `it` of mocha, of `node:test`, or of any
 * other that has functions like these.
 */
export interface TestFramework {
  /** Groups tests; runs `body` at once. */
  describe(title: string, body: () => void): unknown;
  /** Registers a test, which fails when the promise rejects. `this` may have `skip` and `timeout`, as in mocha. */
  it(title: string, body: (this: unknown) => Promise<void>): unknown;
}

/** What mocha and `node:test` give a test as `this`, as far as it is needed. */
interface TestContext {
  skip?(reason?: string): void;
  timeout?: unknown;
}

/** The framework given, else the global `describe` and `it` of mocha and its kin. */
export function findFramework(given: TestFramework | undefined): TestFramework {
  const found = given ?? (globalThis as Partial<TestFramework>);
  if (typeof found.describe === 'function' && typeof found.it === 'function') {
    return found as TestFramework;
  }
  throw new Error('there is no describe and it here: hand them in, { describe, it } of node:test');
}

/** One test a clause, named by its id. A clause that cannot be asked is skipped with its reason. */
export function registerClauses<Bench>(
  framework: TestFramework,
  title: string,
  clauses: readonly Clause<Bench>[],
  benches: Harnesses<Bench>,
): void {
  framework.describe(title, () => {
    for (const clause of clauses) {
      framework.it(`${clause.id}: ${clause.title}`, async function (this: unknown) {
        const test = (this ?? {}) as TestContext;
        // Mocha's own is 2 s; a clause has a limit of its own.
        if (typeof test.timeout === 'function') test.timeout(0);
        const { status, reason, error } = await runClause(clause, benches);
        if (status === 'fail') throw error;
        if (status === 'skip') test.skip?.(reason ?? undefined);
      });
    }
  });
}

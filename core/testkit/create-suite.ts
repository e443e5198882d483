import type { Clause, ClauseResult } from './clause.js';
import {
  assertKnownExceptions,
  type Harness,
  type Harnesses,
  type RunOptions,
  runClauses,
} from './run-clauses.js';
import { findFramework, registerClauses, type TestFramework } from './test-framework.js';

interface Subject {
  readonly except?: Readonly<Record<string, string>>;
}

interface SuiteOptions<S extends Subject, H extends Harness> {
  readonly clauses: readonly Clause<H>[];
  /** The time limit of one clause. Milliseconds. */
  readonly timeoutMs: number;
  /** As operators know it: `adapter 'http'` */
  readonly nameOf: (subject: S) => string;
  readonly start: (subject: S) => Promise<H>;
}

/** The clauses about one kind of plugin. */
interface Suite<S extends Subject> {
  /** @throws Error when there is no framework, or `subject.except` has an unknown id. */
  register(subject: S, framework: TestFramework | undefined): void;
  /** Rejects when `subject.except` has an unknown id. */
  run(subject: S, options: RunOptions): Promise<ClauseResult[]>;
}

export function createSuite<S extends Subject, H extends Harness>({
  clauses,
  timeoutMs,
  nameOf,
  start,
}: SuiteOptions<S, H>): Suite<S> {
  const createHarnesses = (subject: S): Harnesses<H> => {
    const { except = {} } = subject;
    assertKnownExceptions(except, clauses);
    return { start: () => start(subject), except, timeoutMs };
  };
  return {
    register: (subject, framework) => {
      const title = `${nameOf(subject)} conforms to the contract`;
      registerClauses(findFramework(framework), title, clauses, createHarnesses(subject));
    },
    run: async (subject, options) => runClauses(clauses, createHarnesses(subject), options),
  };
}

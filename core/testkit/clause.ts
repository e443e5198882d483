import type { AdapterHarness } from './adapter-harness.js';

export type AdapterClause = Clause<AdapterHarness>;

/** One rule of the contract and its test. */
export interface Clause<Harness> {
  /** Stable: `area.rule`. Never reused for another rule. */
  readonly id: string;
  /** The rule as a statement about the subject. */
  readonly title: string;
  /**
   * Returns the reason why the clause does not apply to this subject; `null` if it does. Default:
   * it applies.
   */
  readonly skip?: (harness: Harness) => string | null;
  /** @throws AssertionError when the subject breaks the rule. */
  readonly run: (harness: Harness) => Promise<void>;
}

/** The result of one clause. */
export interface ClauseResult {
  /** Stable: `area.rule`. */
  readonly id: string;
  /** The rule that was tested. */
  readonly title: string;
  /** `skip`: the clause does not apply. */
  readonly status: 'pass' | 'fail' | 'skip';
  /**
   * The expected and received values, or the reason of the skip; `null` for a clause that passed.
   */
  readonly reason: string | null;
  /** The error of a clause that failed. */
  readonly error?: unknown;
  /** Milliseconds, including the start and stop of the provider. */
  readonly durationMs: number;
}

import type { AdapterHarness } from './adapter-harness.js';

export type AdapterClause = Clause<AdapterHarness>;

/** One sentence of the contract that the suite puts to the test. */
export interface Clause<Bench> {
  /** Stable: `area.what`. Never given to another sentence. */
  readonly id: string;
  /** The sentence: what an adapter does. */
  readonly title: string;
  /** Why the clause cannot be asked of this subject; `null` when it can. Default: it can. */
  readonly skip?: (bench: Bench) => string | null;
  /** @throws AssertionError that says what was expected. */
  readonly run: (bench: Bench) => Promise<void>;
}

/** What became of one clause. */
export interface ClauseResult {
  /** Stable: `area.what`. */
  readonly id: string;
  /** The sentence that was put to the test. */
  readonly title: string;
  /** `skip`: it could not be asked. */
  readonly status: 'pass' | 'fail' | 'skip';
  /** What was expected and what came, or why it was skipped; `null` for one that passed. */
  readonly reason: string | null;
  /** What was thrown by one that failed. */
  readonly error?: unknown;
  /** Milliseconds, starting and ending the provider included. */
  readonly durationMs: number;
}

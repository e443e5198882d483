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
  readonly id: string;
  readonly title: string;
  readonly status: 'pass' | 'fail' | 'skip';
  /** What was expected and what came, or why it was skipped; `null` for one that passed. */
  readonly reason: string | null;
  /** What was thrown by one that failed. */
  readonly error?: unknown;
  readonly durationMs: number;
}

/** The window moves in steps of a tenth of its length. */
const SLICES = 10;

/** Counts successes and failures of the last `windowMs`. */
export class OutcomeWindow {
  readonly #sliceMs: number;
  readonly #failures = new Uint32Array(SLICES);
  readonly #successes = new Uint32Array(SLICES);
  #slice = 0;

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLICES;
  }

  addSuccess(): void {
    const index = this.#advance();
    this.#successes[index] = (this.#successes[index] ?? 0) + 1;
  }

  addFailure(): void {
    const index = this.#advance();
    this.#failures[index] = (this.#failures[index] ?? 0) + 1;
  }

  get failures(): number {
    this.#advance();
    return sum(this.#failures);
  }

  get total(): number {
    return this.failures + sum(this.#successes);
  }

  clear(): void {
    this.#failures.fill(0);
    this.#successes.fill(0);
  }

  /** Drops the slices that have left the window. @returns the index of the current slice. */
  #advance(): number {
    const now = Math.floor(performance.now() / this.#sliceMs);
    const first = Math.max(this.#slice + 1, now - SLICES + 1);
    for (let slice = first; slice <= now; slice += 1) {
      this.#failures[slice % SLICES] = 0;
      this.#successes[slice % SLICES] = 0;
    }
    this.#slice = now;
    return now % SLICES;
  }
}

function sum(counts: Uint32Array): number {
  return counts.reduce((total, count) => total + count, 0);
}

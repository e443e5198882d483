/** Codes of c-ares for a name that no longer exists, and for one without records of the type. */
const GONE = new Set(['ENOTFOUND', 'ENODATA']);
/** A server may know no records for a moment after a restart. */
const GONE_IN_A_ROW = 2;
/** All records were local addresses. */
export const ONLY_LOCAL = 'local address not allowed';

/**
 * The last result of one query. It remains valid after failures of servers, and after a single
 * empty answer.
 */
export class LastAnswer<T> {
  readonly #staleMs: number;
  #records: readonly T[] = [];
  #goneInARow = 0;
  #answeredAt: number | null = null;
  /** The error of the last query: `ESERVFAIL`; `null` after a success. */
  failure: string | null = null;
  /** The time of arrival of the records, on the wall clock. */
  arrivedAt: Date | null = null;

  constructor(staleMs: number) {
    this.#staleMs = staleMs;
  }

  /** Starts with the result of another instance for the same query. */
  inherit(earlier: LastAnswer<T>): void {
    this.#records = earlier.#records;
    this.#answeredAt = earlier.#answeredAt;
    this.arrivedAt = earlier.arrivedAt;
  }

  /** Empty while no result is known. */
  get records(): readonly T[] {
    return this.#records;
  }

  /** Whether the last query reported that there are no such records. */
  get isGone(): boolean {
    return this.failure !== null && (GONE.has(this.failure) || this.failure === ONLY_LOCAL);
  }

  /** Never rejects. */
  async refresh(query: () => Promise<readonly T[]>): Promise<void> {
    try {
      const records = await query();
      if (records.length === 0) this.#fail('ENODATA');
      else this.#accept(records);
    } catch (error) {
      this.#fail(readCode(error));
    }
  }

  #accept(records: readonly T[]): void {
    this.#records = records;
    this.#goneInARow = 0;
    this.#answeredAt = performance.now();
    this.arrivedAt = new Date();
    this.failure = null;
  }

  #fail(code: string): void {
    this.failure = code;
    this.#goneInARow = this.isGone ? this.#goneInARow + 1 : 0;
    const isGone = this.#goneInARow >= GONE_IN_A_ROW;
    const ageMs = performance.now() - (this.#answeredAt ?? Number.NEGATIVE_INFINITY);
    if (isGone || ageMs > this.#staleMs) this.#records = [];
  }
}

function readCode(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : null;
  return typeof code === 'string' ? code : 'EBADRESP';
}

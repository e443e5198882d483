/** Codes of c-ares for a name that is gone, and for one without records of the type. */
const GONE = new Set(['ENOTFOUND', 'ENODATA']);
/** A server that restarts may know nothing for a moment. */
const GONE_IN_A_ROW = 2;
/** Every record was a local address. */
export const ONLY_LOCAL = 'local address not allowed';

/** What is known of one query. It outlives servers that fail, and a single empty answer. */
export class LastAnswer<T> {
  readonly #staleMs: number;
  #records: readonly T[] = [];
  #goneInARow = 0;
  #answeredAt: number | null = null;
  /** Why the last query failed: `ESERVFAIL`; `null` when it succeeded. */
  failure: string | null = null;
  /** When the records arrived, as wall-clock time. */
  arrivedAt: Date | null = null;

  constructor(staleMs: number) {
    this.#staleMs = staleMs;
  }

  /** Starts with what another one knows of the same query. */
  inherit(known: LastAnswer<T>): void {
    this.#records = known.#records;
    this.#answeredAt = known.#answeredAt;
    this.arrivedAt = known.arrivedAt;
  }

  /** Empty while nothing is known. */
  get records(): readonly T[] {
    return this.#records;
  }

  /** Whether the last query said that there are no such records. */
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
    if (this.isGone) this.#goneInARow += 1;
    const isGone = this.#goneInARow >= GONE_IN_A_ROW;
    const ageMs = performance.now() - (this.#answeredAt ?? Number.NEGATIVE_INFINITY);
    if (isGone || ageMs > this.#staleMs) this.#records = [];
  }
}

function readCode(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : null;
  return typeof code === 'string' ? code : 'EBADRESP';
}

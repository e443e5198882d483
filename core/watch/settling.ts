/** A changed file takes effect when two reads, this far apart, returned the same content. */
export const SETTLE_MS = 200;
/** A file that keeps changing for this long is reported. */
export const UNSETTLED_MS = 5000;
/** The minimum time between two reads, so that a due file does not keep the host busy. */
const MIN_DELAY_MS = 20;

/** Content that was read once. */
interface SeenContent {
  readonly content: string;
  readonly seenAt: number;
  readonly settleMs: number;
}

/** The start and end of a read, on a monotonic clock. Milliseconds. */
interface ReadTimes {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** A changed file that is not used yet, because it may be incomplete. */
export class Settling {
  readonly changingSince: number;
  #seen: SeenContent | null = null;
  #isReported = false;

  constructor(changingSince: number) {
    this.changingSince = changingSince;
  }

  /**
   * @param content the content, or a digest of it
   * @returns whether the content was the same at least `settleMs` ago: the time from the end of one
   * read to the start of another, so that the duration of a read does not matter
   */
  accepts(content: string, { startedAt, endedAt }: ReadTimes, settleMs = SETTLE_MS): boolean {
    if (settleMs === 0) return true;
    const seen = this.#seen;
    if (seen?.content === content) return startedAt - seen.seenAt >= settleMs;
    this.#seen = { content, seenAt: endedAt, settleMs };
    return false;
  }

  /** The time until the next read. Milliseconds from `now`. */
  remainingMs(now: number): number {
    if (this.#seen === null) return 0;
    const { seenAt, settleMs } = this.#seen;
    return Math.max(MIN_DELAY_MS, Math.ceil(seenAt + settleMs - now));
  }

  /** Whether the file has kept changing for too long. */
  isOverdue(now: number): boolean {
    return now - this.changingSince >= UNSETTLED_MS;
  }

  /** Returns `true` once, when the file is overdue. */
  takeWarning(now: number): boolean {
    if (this.#isReported || !this.isOverdue(now)) return false;
    this.#isReported = true;
    return true;
  }
}

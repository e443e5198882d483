import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** A sample each: fine enough for a bound of some hundred milliseconds, and cheap. */
const RESOLUTION_MS = 20;
/**
 * How much of the past is judged: long enough that one pause (a collection, a reload) is a small part of
 * it, short enough to act while callers still wait.
 */
const WINDOW_MS = 500;
const NANOSECONDS_PER_MS = 1_000_000;

/**
 * How late the event loop is, as the median of the last window or that of the one before, whichever is
 * less: one long pause, which can fill a window, does not look like a loop that is always late. Does not
 * keep the process alive.
 */
export class LoopDelay {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer = setInterval(() => this.#read(), WINDOW_MS).unref();
  #last = 0;
  #before = 0;

  constructor() {
    this.#histogram.enable();
  }

  get medianMs(): number {
    return Math.min(this.#last, this.#before);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  /** The histogram holds the time between two samples, of which the resolution is no delay. */
  #read(): void {
    if (this.#histogram.count === 0) return;
    const between = this.#histogram.percentile(50) / NANOSECONDS_PER_MS;
    this.#before = this.#last;
    this.#last = Math.max(0, between - RESOLUTION_MS);
    this.#histogram.reset();
  }
}

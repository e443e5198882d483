import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** A sample each: fine enough for a bound of some hundred milliseconds. To wake up an idle process takes 0.1 ms. */
const RESOLUTION_MS = 20;
/**
 * How much of the past is judged: long enough that one pause (a collection, a reload) is a small part of
 * it, short enough to act while callers still wait.
 */
const WINDOW_MS = 500;
const NANOSECONDS_PER_MS = 1_000_000;
const MS_PER_SECOND = 1000;

/** How late the event loop is. Does not keep the process alive. */
export class EventLoopDelay {
  // Two that are enabled in the same moment wake up the process together, for the price of one.
  readonly #window = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #untaken = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer = setInterval(() => this.#closeWindow(), WINDOW_MS).unref();
  #last = 0;
  #before = 0;

  constructor() {
    this.#window.enable();
    this.#untaken.enable();
  }

  /**
   * The median of the last window or that of the one before, whichever is less: one long pause, which can
   * fill a window, does not look like a loop that is always late.
   */
  get medianMs(): number {
    return Math.min(this.#last, this.#before);
  }

  /** Seconds, of what was measured since they were taken last; zeros of nothing. */
  readQuantiles(quantiles: readonly number[]): number[] {
    const taken = quantiles.map((quantile) => readMs(this.#untaken, quantile) / MS_PER_SECOND);
    this.#untaken.reset();
    return taken;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#window.disable();
    this.#untaken.disable();
  }

  #closeWindow(): void {
    if (this.#window.count === 0) return;
    this.#before = this.#last;
    this.#last = readMs(this.#window, 0.5);
    this.#window.reset();
  }
}

/** A histogram holds the time between two samples, of which the resolution is no delay. */
function readMs(histogram: IntervalHistogram, quantile: number): number {
  if (histogram.count === 0) return 0;
  const between = histogram.percentile(100 * quantile) / NANOSECONDS_PER_MS;
  return Math.max(0, between - RESOLUTION_MS);
}

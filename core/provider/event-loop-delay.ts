import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** Fine enough for a limit of some hundred milliseconds; one wake-up of an idle process takes 0.1 ms. */
const RESOLUTION_MS = 20;
/** Long enough that one pause (garbage collection, a reload) is a small part of it, short enough to act in time. */
const WINDOW_MS = 500;
const NANOSECONDS_PER_MS = 1_000_000;
const MS_PER_SECOND = 1000;

/** Measures the delay of the event loop. Does not keep the process alive. */
export class EventLoopDelay {
  // Both are enabled at the same moment, so that they wake the process together.
  readonly #window = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #sinceLastRead = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer = setInterval(() => this.#closeWindow(), WINDOW_MS).unref();
  #last = 0;
  /**
   * The smaller median of the last two windows: a single long pause can fill one window, but does not mean
   * that the loop is always late.
   */
  medianMs = 0;

  constructor() {
    this.#window.enable();
    this.#sinceLastRead.enable();
  }

  /** Seconds, over the time since the last read; 0 without samples. */
  readQuantiles(quantiles: readonly number[]): number[] {
    const values = quantiles.map(
      (quantile) => readMs(this.#sinceLastRead, quantile) / MS_PER_SECOND,
    );
    this.#sinceLastRead.reset();
    return values;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#window.disable();
    this.#sinceLastRead.disable();
  }

  #closeWindow(): void {
    if (this.#window.count === 0) return;
    const median = readMs(this.#window, 0.5);
    this.medianMs = Math.min(this.#last, median);
    this.#last = median;
    this.#window.reset();
  }
}

/** The histogram contains the time between two samples, which includes the resolution. */
function readMs(histogram: IntervalHistogram, quantile: number): number {
  if (histogram.count === 0) return 0;
  const elapsedMs = histogram.percentile(100 * quantile) / NANOSECONDS_PER_MS;
  return Math.max(0, elapsedMs - RESOLUTION_MS);
}

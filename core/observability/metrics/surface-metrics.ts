import type { CompletedRequest } from '../completed-request.js';
import type { CollectedMetric, Sample } from './collected-metric.js';
import { DurationHistogram } from './duration-histogram.js';

/** A stream may be open for hours; those are not interesting as durations. */
const BOUNDS_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30];

interface SurfaceCounts {
  /** By status. */
  readonly requests: Map<number, number>;
  readonly duration: DurationHistogram;
}

/** Counts the requests to surfaces. Requests that a surface makes are counted as all others are. */
export class SurfaceMetrics {
  readonly #bySurface = new Map<string, SurfaceCounts>();

  /** Runs when the status is known: a stream is then still open. */
  count({ facts, status, durationMs }: CompletedRequest): void {
    if (facts.surface === null) return;
    let counts = this.#bySurface.get(facts.surface);
    if (counts === undefined) {
      counts = { requests: new Map(), duration: new DurationHistogram(BOUNDS_SECONDS) };
      this.#bySurface.set(facts.surface, counts);
    }
    counts.requests.set(status, (counts.requests.get(status) ?? 0) + 1);
    counts.duration.observe(durationMs);
  }

  describe(): CollectedMetric[] {
    const name = 'modgate_surface_duration_seconds';
    return [
      {
        name: 'modgate_surface_requests_total',
        help: 'Requests to surfaces.',
        type: 'counter',
        aggregator: 'sum',
        read: () => this.#readRequests(),
      },
      {
        name,
        help: 'Time until a surface began its response.',
        type: 'histogram',
        aggregator: 'sum',
        read: () =>
          [...this.#bySurface].flatMap(([surface, { duration }]) =>
            duration.read(name, { surface }),
          ),
      },
    ];
  }

  #readRequests(): Sample[] {
    return [...this.#bySurface].flatMap(([surface, { requests }]) =>
      [...requests].map(([status, value]) => ({
        labels: { surface, status: String(status) },
        value,
      })),
    );
  }
}

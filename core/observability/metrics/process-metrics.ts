import { type CollectedMetric, readCounts } from './collected-metric.js';

const MS_PER_SECOND = 1000;
const QUANTILES = [0.5, 0.9, 0.99, 1] as const;

export function createEventLoopMetric(loop: {
  /** Seconds, since the last call. */
  readQuantiles(quantiles: readonly number[]): readonly number[];
}): CollectedMetric {
  return {
    name: 'modgate_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape; percentile 1 is the longest.',
    type: 'gauge',
    labelNames: ['percentile'],
    aggregator: 'max',
    read: () =>
      loop
        .readQuantiles(QUANTILES)
        .map((delay, index) => [{ percentile: String(QUANTILES[index]) }, delay]),
  };
}

export function createStreamsMetric(streams: {
  counts(): Readonly<Record<string, number>>;
}): CollectedMetric {
  return {
    name: 'modgate_streams_open',
    help: 'Open streams of events and WebSockets by kind; they do not count as calls in flight.',
    type: 'gauge',
    labelNames: ['kind'],
    read: () => readCounts('kind', streams.counts()),
  };
}

/** @param cache `null` on a host without a cache */
export function createCacheMetric(cache: { readonly bytes: number } | null): CollectedMetric {
  return {
    name: 'modgate_cache_bytes',
    help: 'Responses that are kept for routes with a cache, in bytes.',
    type: 'gauge',
    read: () => cache?.bytes ?? 0,
  };
}

interface ObservedListener {
  readonly connections: {
    readonly open: number;
    readonly dropped: number;
    readonly failedHandshakes: number;
  };
  /** `null` without TLS. */
  readonly certificate: {
    readonly current: { readonly certificate: { readonly validTo: string } };
    readonly reloads: { readonly success: number; readonly failure: number };
  } | null;
}

/** Creates the metrics of connections, and of the certificate if there is one. */
export function createListenerMetrics({
  connections,
  certificate,
}: ObservedListener): CollectedMetric[] {
  const metrics: CollectedMetric[] = [
    {
      name: 'modgate_connections',
      help: 'Open client connections.',
      type: 'gauge',
      read: () => connections.open,
    },
    {
      name: 'modgate_connections_dropped_total',
      help: 'Connections closed at once because of the connection limit.',
      type: 'counter',
      read: () => connections.dropped,
    },
  ];
  if (certificate === null) return metrics;
  return [
    ...metrics,
    {
      name: 'modgate_tls_handshakes_failed_total',
      help: 'TLS handshakes that failed or took too long.',
      type: 'counter',
      read: () => connections.failedHandshakes,
    },
    {
      name: 'modgate_tls_reload_total',
      help: 'Certificate reloads that were applied (success) or rejected (failure).',
      type: 'counter',
      labelNames: ['result'],
      read: () => readCounts('result', certificate.reloads),
    },
    {
      name: 'modgate_tls_certificate_expiry_timestamp_seconds',
      help: 'Expiry of the certificate of the listener, in seconds since 1970.',
      type: 'gauge',
      aggregator: 'min',
      read: () => Date.parse(certificate.current.certificate.validTo) / MS_PER_SECOND,
    },
  ];
}

interface ObservedBudget {
  readonly bytes: number;
  readonly maxBytes: number;
  readonly rejected: { readonly memory: number; readonly actor: number };
}

interface ObservedMemory extends ObservedBudget {
  /** The memory of requests without credentials. */
  readonly anonymous: ObservedBudget | null;
}

export function createMemoryMetrics(memory: ObservedMemory): CollectedMetric[] {
  return [
    {
      name: 'modgate_held_bytes',
      help: 'Bytes of request bodies, and of responses that have not left completely.',
      type: 'gauge',
      read: () => memory.bytes,
    },
    {
      name: 'modgate_memory_budget_bytes',
      help: 'The memory budget, which limits modgate_held_bytes.',
      type: 'gauge',
      read: () => memory.maxBytes,
    },
    {
      name: 'modgate_memory_rejected_total',
      help: 'Requests rejected or cut by a memory budget: of the host (memory), of their actor, or of those without one.',
      type: 'counter',
      labelNames: ['budget'],
      read: () => readCounts('budget', { ...memory.rejected, anonymous: countAnonymous(memory) }),
    },
    {
      name: 'modgate_anonymous_held_bytes',
      help: 'The same as modgate_held_bytes for requests without credentials, which have a budget of their own.',
      type: 'gauge',
      read: () => memory.anonymous?.bytes ?? 0,
    },
  ];
}

function countAnonymous({ anonymous }: ObservedMemory): number {
  return anonymous === null ? 0 : anonymous.rejected.memory + anonymous.rejected.actor;
}

/** Counts the tokens of others that callers of `GET /explain` have sent, by result. */
export function createTokenLookupMetric(owners: {
  readonly counts: Readonly<Record<string, number>>;
}): CollectedMetric {
  return {
    name: 'modgate_explain_as_total',
    help: 'Tokens of other callers that GET /explain looked up, by result.',
    type: 'counter',
    labelNames: ['result'],
    read: () => readCounts('result', owners.counts),
  };
}

/** What a descriptor gets that says nothing (contract 6 and 9). Wire names; milliseconds and bytes. */
export const DESCRIPTOR_DEFAULTS = {
  enabled: true,
  provider_errors: 'problem',
  limits: {
    timeout_ms: 5000,
    request_bytes: 1_048_576,
    response_bytes: 4_194_304,
    concurrency: 256,
    queue: 32,
    queue_ms: 250,
  },
  /** 0 a second is no limit; a burst of 0 is what comes in a second. */
  rate: { per_second: 0, burst: 0, actor_per_second: 0, actor_burst: 0 },
  identity: false,
  retry: { attempts: 2, budget: 0.2 },
  breaker: { failures: 5, ratio: 0.5, window_ms: 10_000, open_ms: 10_000, max_open_ms: 60_000 },
  records: { capture_bytes: 0 },
  /** Of a probation that is asked for; there is none otherwise. */
  probation: { seconds: 30, max_error_rate: 0.05, min_calls: 10 },
} as const;

const TEN_MINUTES_MS = 600_000;
const ONE_HOUR_MS = 3_600_000;
const ONE_DAY_SECONDS = 86_400;
const ONE_GIBIBYTE = 1_073_741_824;
/** More calls a second than one process can carry. */
const ONE_MILLION = 1_000_000;
/** More sockets than one process can hold. */
const MANY = 100_000;

/**
 * What a descriptor may say. The bounds are there to catch a wrong unit (seconds for milliseconds, MiB
 * for bytes), not to limit anybody.
 */
export const DESCRIPTOR_BOUNDS = {
  limits: {
    timeout_ms: [1, TEN_MINUTES_MS],
    request_bytes: [1, ONE_GIBIBYTE],
    response_bytes: [1, ONE_GIBIBYTE],
    concurrency: [1, MANY],
    queue: [0, MANY],
    queue_ms: [0, TEN_MINUTES_MS],
  },
  rate: {
    per_second: [0, ONE_MILLION],
    burst: [0, ONE_MILLION],
    actor_per_second: [0, ONE_MILLION],
    actor_burst: [0, ONE_MILLION],
  },
  retry: { attempts: [0, 10], budget: [0, 1] },
  breaker: {
    failures: [1, 1000],
    ratio: [0, 1],
    window_ms: [1, ONE_HOUR_MS],
    open_ms: [1, ONE_HOUR_MS],
    max_open_ms: [1, ONE_HOUR_MS],
  },
  // A record holds the start of a body to read, not a copy to keep.
  records: { capture_bytes: [0, 65_536] },
  probation: { seconds: [1, ONE_DAY_SECONDS], max_error_rate: [0, 1], min_calls: [1, MANY] },
} as const;

type Numbers<Key extends string> = Readonly<Record<Key, number>>;

/** A table of defaults with what was given put over it. */
export function withDefaults<Key extends string>(
  defaults: Numbers<Key>,
  given: { readonly [Member in Key]?: number | undefined } | undefined,
): Numbers<Key> {
  const keys = Object.keys(defaults) as Key[];
  const filled = keys.map((key) => [key, given?.[key] ?? defaults[key]]);
  return Object.fromEntries(filled) as Numbers<Key>;
}

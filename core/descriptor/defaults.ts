/** The defaults of a descriptor, in its own words; milliseconds and bytes. */
export const DESCRIPTOR_DEFAULTS = {
  enabled: true,
  callers: ['service', 'system'],
  responses: { mode: 'envelope' },
  provider_errors: 'problem',
  limits: {
    timeout_ms: 5000,
    request_bytes: 1_048_576,
    response_bytes: 4_194_304,
    concurrency: 256,
    queue: 32,
    queue_ms: 250,
  },
  /** 0 per second is no limit; a burst of 0 is as many as per second. */
  rate: { per_second: 0, burst: 0, actor_per_second: 0, actor_burst: 0 },
  identity: false,
  retry: { attempts: 2, budget: 0.2 },
  breaker: { failures: 5, ratio: 0.5, window_ms: 10_000, open_ms: 10_000, max_open_ms: 60_000 },
  records: { capture_bytes: 0 },
  schemas: { input: 'enforce', output: 'off' },
  /** Only for a descriptor that has a probation. */
  probation: { seconds: 30, max_error_rate: 0.05, min_calls: 10 },
} as const;

type Numbers<Key extends string> = Readonly<Record<Key, number>>;

/** The given numbers, with defaults for the others. */
export function withDefaults<Key extends string>(
  defaults: Numbers<Key>,
  given: { readonly [Member in Key]?: number | undefined } | undefined,
): Numbers<Key> {
  const keys = Object.keys(defaults) as Key[];
  const filled = keys.map((key) => [key, given?.[key] ?? defaults[key]]);
  return Object.fromEntries(filled) as Numbers<Key>;
}

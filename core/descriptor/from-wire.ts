import { DESCRIPTOR_DEFAULTS, withDefaults } from './defaults.js';
import type {
  Breaker,
  Descriptor,
  Limits,
  ManifestSource,
  Probation,
  RateLimit,
  Responses,
} from './descriptor.js';
import type { WireDescriptor } from './descriptor-struct.js';
import { DEFAULT_EXPOSED } from './expose-headers.js';

/** Converts the names of the file to those of the code and fills in the defaults. */
export function createDescriptor(wire: WireDescriptor, config: unknown): Descriptor {
  const defaults = DESCRIPTOR_DEFAULTS;
  const responses = createResponses(wire.responses);
  return {
    module: wire.module,
    enabled: wire.enabled ?? defaults.enabled,
    provider: { kind: wire.provider.kind, config },
    manifest: createManifestSource(wire.manifest),
    manifestDigest: wire.manifest_digest ?? null,
    limits: createLimits(withDefaults(defaults.limits, wire.limits)),
    rate: createRate(withDefaults(defaults.rate, wire.rate)),
    identity: wire.identity ?? defaults.identity,
    callers: wire.callers ?? defaults.callers,
    forwardHeaders: (wire.forward_headers ?? []).map((name) => name.toLowerCase()),
    responses,
    providerErrors:
      responses.mode === 'raw' ? 'problem' : (wire.provider_errors ?? defaults.provider_errors),
    retry: withDefaults(defaults.retry, wire.retry),
    breaker: createBreaker(withDefaults(defaults.breaker, wire.breaker)),
    records: { captureBytes: wire.records?.capture_bytes ?? defaults.records.capture_bytes },
    probation: wire.probation
      ? createProbation(withDefaults(defaults.probation, wire.probation))
      : null,
    schemas: {
      input: wire.schemas?.input ?? defaults.schemas.input,
      output: wire.schemas?.output ?? defaults.schemas.output,
    },
    console: {
      release: wire.console?.release ?? null,
      ui: wire.console?.ui ?? [],
      grants: wire.console?.grants ?? [],
    },
  };
}

type Filled<Key extends 'limits' | 'rate' | 'breaker' | 'probation'> = {
  readonly [Member in keyof (typeof DESCRIPTOR_DEFAULTS)[Key]]: number;
};

function createLimits(wire: Filled<'limits'>): Limits {
  return {
    timeoutMs: wire.timeout_ms,
    requestBytes: wire.request_bytes,
    responseBytes: wire.response_bytes,
    concurrency: wire.concurrency,
    queue: wire.queue,
    queueMs: wire.queue_ms,
  };
}

function createRate(wire: Filled<'rate'>): RateLimit {
  return {
    perSecond: wire.per_second,
    burst: wire.burst,
    actorPerSecond: wire.actor_per_second,
    actorBurst: wire.actor_burst,
  };
}

function createBreaker(wire: Filled<'breaker'>): Breaker {
  return {
    failures: wire.failures,
    ratio: wire.ratio,
    windowMs: wire.window_ms,
    openMs: wire.open_ms,
    maxOpenMs: wire.max_open_ms,
  };
}

function createProbation(wire: Filled<'probation'>): Probation {
  return {
    seconds: wire.seconds,
    maxErrorRate: wire.max_error_rate,
    minCalls: wire.min_calls,
  };
}

function createResponses(wire: WireDescriptor['responses']): Responses {
  const mode = wire?.mode ?? DESCRIPTOR_DEFAULTS.responses.mode;
  const named = wire?.expose_headers?.map((name) => name.toLowerCase());
  return { mode, exposeHeaders: named ?? DEFAULT_EXPOSED[mode] };
}

export function createManifestSource(wire: WireDescriptor['manifest']): ManifestSource {
  if (wire === undefined) return { kind: 'provider' };
  if (typeof wire === 'string') return { kind: 'file', path: wire };
  if (wire.url !== undefined) return { kind: 'url', url: wire.url };
  if (wire.from !== undefined) return { kind: 'provider' };
  return { kind: 'inline', value: wire.inline };
}

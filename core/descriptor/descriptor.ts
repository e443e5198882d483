import type { AnyStruct } from '../contract/described.js';
import type { ActorKind, Supports } from '../contract/index.js';

export interface Limits {
  readonly timeoutMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Calls at the same time. */
  readonly concurrency: number;
  /** Calls that may wait until another one ends. */
  readonly queue: number;
  readonly queueMs: number;
}

/** 0 per second is no limit; a burst of 0 is as many as per second. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
  readonly actorPerSecond: number;
  readonly actorBurst: number;
}

interface Retry {
  /** Retries at most, in addition to the first attempt. */
  readonly attempts: number;
  /** What each call adds to the bucket from which a retry takes 1. */
  readonly budget: number;
}

export interface Breaker {
  /** Minimum number of failures within the window that open the breaker. */
  readonly failures: number;
  /** Minimum share of failures among the calls within the window, 0 to 1. */
  readonly ratio: number;
  readonly windowMs: number;
  readonly openMs: number;
  readonly maxOpenMs: number;
}

export interface Probation {
  readonly seconds: number;
  /** Share of 502 responses, 0 to 1. */
  readonly maxErrorRate: number;
  readonly minCalls: number;
}

/**
 * What callers get of a response. `envelope`: 200 with eight members, one of them the provider's JSON. `raw`: the
 * provider's own status and JSON.
 */
export type ResponseMode = 'envelope' | 'raw';

export interface Responses {
  readonly mode: ResponseMode;
  /** Response headers of the provider that callers get; lower-case names. */
  readonly exposeHeaders: readonly string[];
}

/** `enforce` rejects what violates a schema, `report` counts it. */
export type SchemaMode = 'enforce' | 'report' | 'off';

/** Where the manifest comes from; `path` and `url` as written. */
export type ManifestSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'inline'; readonly value: unknown }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'provider' };

/** A validated descriptor with its defaults. */
export interface Descriptor {
  readonly module: string;
  readonly enabled: boolean;
  readonly provider: {
    readonly kind: string;
    /** With the defaults of the adapter's struct; secrets are still references. */
    readonly config: unknown;
  };
  readonly manifest: ManifestSource;
  /** The digest that the manifest must have. */
  readonly manifestDigest: string | null;
  readonly limits: Limits;
  readonly rate: RateLimit;
  /** Whether each call carries a signed token that names the actor. */
  readonly identity: boolean;
  /** The kinds of actors that may call the routes of the module. */
  readonly callers: readonly ActorKind[];
  /** Lower-case names. */
  readonly forwardHeaders: readonly string[];
  readonly responses: Responses;
  /** Always `problem` in raw mode, where it has no effect. */
  readonly providerErrors: 'problem' | 'passthrough';
  readonly retry: Retry;
  readonly breaker: Breaker;
  readonly records: { readonly captureBytes: number };
  readonly probation: Probation | null;
  readonly schemas: { readonly input: SchemaMode; readonly output: SchemaMode };
  readonly console: {
    /** `null`: the manifest's digest. */
    readonly release: string | null;
    readonly ui: readonly string[];
    readonly grants: readonly string[];
  };
}

/** The part of a ProviderAdapter that the validation of a descriptor needs. */
export interface DescriptorAdapter {
  readonly kind: string;
  readonly config: AnyStruct;
  readonly supports: Supports;
}

import type { Supports } from '../contract/index.js';
import type { AnyStruct } from '../document/struct-walk.js';

export interface Limits {
  readonly timeoutMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Calls at a time. */
  readonly concurrency: number;
  /** Calls that may wait for their turn. */
  readonly queue: number;
  readonly queueMs: number;
}

/** Calls a second, and how many at once; 0 a second is no limit, a burst of 0 what comes in a second. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
  readonly actorPerSecond: number;
  readonly actorBurst: number;
}

export interface Retry {
  /** Retries at most, beside the first attempt. */
  readonly attempts: number;
  /** What each call adds to the token bucket of which a retry takes 1. */
  readonly budget: number;
}

export interface Breaker {
  /** Failures within the window that open the breaker at the least. */
  readonly failures: number;
  /** Share of the counted calls within the window, 0 to 1, that the failures must make up. */
  readonly ratio: number;
  readonly windowMs: number;
  readonly openMs: number;
  readonly maxOpenMs: number;
}

export interface Probation {
  readonly seconds: number;
  /** Share of 502s, 0 to 1. */
  readonly maxErrorRate: number;
  readonly minCalls: number;
}

/** Where the manifest comes from; `path` and `url` as written. */
export type ManifestSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'inline'; readonly value: unknown }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'provider' };

/** What ops ask for, defaults included (contract 6). */
export interface Descriptor {
  readonly module: string;
  readonly enabled: boolean;
  readonly provider: {
    readonly kind: string;
    /** As the adapter's struct accepted it; secrets are still references. */
    readonly config: unknown;
  };
  readonly manifest: ManifestSource;
  /** The digest that the manifest must have. */
  readonly manifestDigest: string | null;
  readonly limits: Limits;
  readonly rate: RateLimit;
  /** Whether the provider is told who calls in a signed token. */
  readonly identity: boolean;
  /** Lower-case names. */
  readonly forwardHeaders: readonly string[];
  readonly providerErrors: 'problem' | 'passthrough';
  readonly retry: Retry;
  readonly breaker: Breaker;
  readonly records: { readonly captureBytes: number };
  readonly probation: Probation | null;
  readonly console: {
    /** `null`: the manifest's digest. */
    readonly release: string | null;
    readonly ui: readonly string[];
    readonly grants: readonly string[];
  };
}

/** What of a ProviderAdapter is needed to judge a descriptor. */
export interface DescriptorAdapter {
  readonly kind: string;
  readonly config: AnyStruct;
  readonly supports: Supports;
}

import type { Invocation, Outcome } from './operation.js';

export interface Endpoint {
  /** Shown to ops in status and metrics: never with credentials in it. */
  readonly id: string;
  /** Share of the calls relative to its siblings; at least 1. */
  readonly weight: number;
}

/** How the host is to spread calls over {@link Provider.endpoints}, and to check them. */
export interface Balancing {
  readonly strategy: 'round_robin' | 'least_in_flight' | 'consistent_hash';
  /**
   * The caller's header by which `consistent_hash` chooses, in lower case; a call without it goes to
   * the endpoints in turn. `null` for the other strategies.
   */
  readonly hashHeader: string | null;
  /** `null`: {@link Provider.check} is not called at intervals. */
  readonly health: HealthChecks | null;
}

/** Active checks of each endpoint (contract 9). */
export interface HealthChecks {
  /** From the start of one check to the start of the next. Milliseconds. */
  readonly intervalMs: number;
  /** When the signal of a check is aborted. Milliseconds. */
  readonly timeoutMs: number;
  /** So many in a row that fail, and the endpoint is down: at least 1. */
  readonly failures: number;
  /** So many in a row that succeed, and it is up again: at least 1. */
  readonly successes: number;
}

/** An opened provider. Methods run concurrently; none is called after the scope has closed. */
export interface Provider {
  /**
   * The manifest as parsed JSON, for `manifest: { from: provider }`. Called again with back-off until
   * it succeeds. Throws ProviderFailure when the provider does not answer.
   */
  manifest(signal: AbortSignal): Promise<unknown>;
  /** Resolves when the provider can serve; throws ProviderFailure when it cannot. */
  check(signal: AbortSignal, endpoint?: string): Promise<void>;
  /** Throws ProviderFailure when there was no answer; any status is an answer. */
  invoke(invocation: Invocation): Promise<Outcome>;
  /** Replicas, when there are several; the host picks one and names it in `invocation.endpoint`. */
  endpoints?(): readonly Endpoint[];
  /** Asked once, when the provider has been opened. Default: `round_robin` without checks. */
  balancing?(): Balancing;
}

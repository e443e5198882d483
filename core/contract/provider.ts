import type { Invocation, Outcome } from './operation.js';

/** One replica of a provider. Breaker and counts of the host belong to it. */
export interface Endpoint {
  /**
   * Unique in its provider, the same after a reload. Shown to ops in status and metrics: never with
   * credentials in it.
   */
  readonly id: string;
  /** Share of the calls relative to its siblings; a whole number, at least 1. */
  readonly weight: number;
}

/** How the host is to spread calls over {@link Provider.endpoints}, and to check them. */
export interface Balancing {
  /** How an endpoint is picked for a call. */
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

/**
 * An opened provider. Methods run concurrently, in any order, any number of times; none is called after the
 * scope has closed, but calls may still be in flight when it closes: they then settle as `unavailable`.
 * None may block the event loop. All throw by rejecting; anything but a `ProviderFailure` is a fault of the
 * adapter.
 *
 */
export interface Provider {
  /**
   * The manifest as parsed JSON, for `manifest: { from: provider }`; the host judges it. Called again with
   * back-off (200 ms to 10 s) until it succeeds. The signal is aborted when the scope closes and at no
   * deadline: the adapter sets one of its own. Comes only with `supports.manifest`.
   * @throws ProviderFailure when the provider does not answer, or with what is no JSON.
   *
   */
  manifest(signal: AbortSignal): Promise<unknown>;
  /**
   * Resolves when the provider can serve. Called at the intervals that {@link Provider.balancing} asks for,
   * for each endpoint, and never without them; the signal is aborted after `timeoutMs`.
   * @throws ProviderFailure when it cannot.
   *
   */
  check(signal: AbortSignal, endpoint?: string): Promise<void>;
  /**
   * One attempt of one call; any status is an answer. Sent at most once.
   * @throws ProviderFailure when there was no answer.
   */
  invoke(invocation: Invocation): Promise<Outcome>;
  /**
   * Replicas: the host picks one and names it in `invocation.endpoint`, also where there is only one. The
   * same at each question. Absent or empty: there is nothing to pick from.
   *
   */
  endpoints?(): readonly Endpoint[];
  /** Asked once, when the provider has been opened. Default: `round_robin` without checks. */
  balancing?(): Balancing;
}

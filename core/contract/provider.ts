import type { ManifestRoute } from './manifest.js';
import type { Invocation, Outcome } from './operation.js';
import type { ProviderFact } from './provider-fact.js';

/** One replica of a provider, with its own circuit breaker and metrics in the host. */
export interface Endpoint {
  /**
   * Unique in its provider, the same after a reload. Shown in status and metrics: it must not contain
   * credentials.
   */
  readonly id: string;
  /** Share of the calls relative to the other endpoints; a whole number, at least 1. */
  readonly weight: number;
  /**
   * The base of all targets sent to it, for kinds that call URLs: `https://crm.example/api`. http or https,
   * without credentials, query and fragment. In responses the host maps references below it to its own paths.
   * Default: none; then only references that begin with one `/` are mapped.
   */
  readonly url?: string;
  /**
   * Gets calls only while no endpoint with a lower number is up with its circuit breaker closed; a whole number,
   * at least 0. Default 0.
   */
  readonly priority?: number;
}

/** The endpoints of a provider that discovers them while it is open, such as by DNS. */
export interface FoundEndpoints {
  /** All current endpoints, at most 256; empty while none is known. */
  readonly endpoints: readonly Endpoint[];
  /**
   * The time of the oldest response from which these endpoints were resolved; `null` while a name
   * has none.
   */
  readonly resolvedAt: Date | null;
  /**
   * The error of the last lookup, for operators: `DNS ENOTFOUND crm.internal`. Shown in `GET
   * /modules`, and as the reason of calls without an endpoint. `null` after a success.
   */
  readonly resolveError: string | null;
  /** The number of lookups that failed since the provider was opened. */
  readonly resolveFailures: number;
}

/** The selections of an endpoint for a call; the first is that of `provider.config` without one. */
export const BALANCING_STRATEGIES = ['round_robin', 'least_in_flight', 'consistent_hash'] as const;

/** The distribution of calls over {@link Provider.endpoints}, and the checks of them. */
export interface Balancing {
  /** The selection of an endpoint for a call. */
  readonly strategy: (typeof BALANCING_STRATEGIES)[number];
  /**
   * The request header that `consistent_hash` uses, in lower case; calls without it use the
   * endpoints in turn. `null` for the other strategies.
   */
  readonly hashHeader: string | null;
  /** `null`: {@link Provider.check} is not called at intervals. */
  readonly health: HealthChecks | null;
}

/** Active checks of each endpoint. */
export interface HealthChecks {
  /** The time from the start of one check to the start of the next. Milliseconds. */
  readonly intervalMs: number;
  /** When the signal of a check is aborted. Milliseconds. */
  readonly timeoutMs: number;
  /** Failed checks in a row after which the endpoint is down: at least 1. */
  readonly failures: number;
  /** Passed checks in a row after which it is up again: at least 1. */
  readonly successes: number;
}

/** A route that a provider serves. */
export interface ProviderRoute {
  /** The route as in the manifest. */
  readonly declared: ManifestRoute;
  /** The result of {@link ProviderAdapter.operation}, as each call of the route has it; absent without it. */
  readonly options?: unknown;
}

/**
 * An opened provider. Methods run concurrently, in any order, any number of times. None is called after the
 * scope has closed; calls in flight then settle as `unavailable`. No method may block the event loop. All
 * fail by rejecting; anything but a `ProviderFailure` is an error of the adapter.
 */
export interface Provider {
  /**
   * The manifest for `manifest: { from: provider }`: JSON in UTF-8, at most 4 MiB. The host parses it in a
   * thread and validates it. Called again with backoff (200 ms to 10 s) until it succeeds. The signal is aborted
   * only when the scope closes: the adapter sets its own deadline. Used only with `supports.manifest`.
   * @throws ProviderFailure if the provider does not respond, or its response is not a success. With the code
   * `protocol` in phase `preparing` there will be none: the module is refused, and the host does not ask again.
   */
  manifest(signal: AbortSignal): Promise<Uint8Array>;
  /**
   * Resolves if the provider can serve. Called for each endpoint at the interval of
   * {@link Provider.balancing}, and only with one; the signal is aborted after `timeoutMs`.
   * @throws ProviderFailure if it cannot.
   */
  check(signal: AbortSignal, endpoint?: string): Promise<void>;
  /**
   * One attempt of one call, sent at most once. A response with any status is a success.
   * @throws ProviderFailure without a response.
   */
  invoke(invocation: Invocation): Promise<Outcome>;
  /**
   * The replicas, the same at each call unless there is {@link Provider.followEndpoints}. The host selects one
   * and passes it as `invocation.endpoint`, also if there is only one. Absent or empty: there is nothing to
   * select.
   */
  endpoints?(): readonly Endpoint[];
  /**
   * Follows endpoints that change while the provider is open. The host calls it once, after the provider was opened,
   * and uses the result instead of {@link Provider.endpoints}. The provider calls `onChange` with each change, in
   * the same turn in which `invoke` begins to accept the new endpoints. An endpoint with the same id keeps its
   * circuit breaker, health and counts. Calls at a removed one must finish.
   */
  followEndpoints?(onChange: (found: FoundEndpoints) => void): FoundEndpoints;
  /**
   * Called with all routes before the first call, and again when another manifest replaces theirs, such as the last
   * good one by that of the provider. Must not block or throw; calls of earlier routes may still be in flight.
   */
  useRoutes?(routes: readonly ProviderRoute[]): void;
  /** Called once, after the provider was opened. Default: `round_robin` without checks. */
  balancing?(): Balancing;
  /**
   * The error of the last request for credentials, for operators and without a secret; `null` after
   * a success. Default: `null`.
   */
  credentialProblem?(): string | null;
  /**
   * What operators should know of the other side beside its endpoints, such as what it offers and what has changed, at
   * most 100. Called for each `GET /modules`, where the host escapes, masks and cuts the texts; must not block. Of
   * facts of several processes with one name, one with a problem is shown. Default: none.
   */
  facts?(): readonly ProviderFact[];
}

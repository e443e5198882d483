import { type Balancing, isProviderFailure, type Log, type Provider } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { IdentitySigner } from '../identity/identity-keys.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import type { ModuleScope } from '../isolation/scope.js';
import { Bulkhead } from './bulkhead.js';
import { Deadline, OpenDeadlines } from './deadline.js';
import { Dispatcher } from './dispatcher.js';
import { Endpoint, type EndpointStatus } from './endpoint.js';
import { EndpointPool } from './endpoint-pool.js';
import { startHealthChecks } from './health-checks.js';
import type { LoadShedder } from './load-shedding.js';
import { type CheckedOutcome, isPassedOn } from './outcome.js';
import type { ProviderAnswer, ProviderCall } from './provider-call.js';
import { RateLimits } from './rate-limits.js';
import { createOpenBreaker } from './rejected-call.js';

export type { ProviderAnswer, ProviderCall } from './provider-call.js';

export interface CallCounts {
  readonly calls: number;
  /** Calls that have ended, failed or not. */
  readonly ended: number;
  /** Of those, the ones that the caller got a 502 for. */
  readonly failed: number;
  readonly retries: number;
  readonly inFlight: number;
  readonly queued: number;
}

export interface ProviderClientOptions {
  readonly provider: Provider;
  readonly descriptor: Descriptor;
  readonly log: Log;
  /** Active checks end with it. */
  readonly scope: Pick<ModuleScope, 'signal' | 'defer'>;
  /** What the whole host can carry; `null`: no limit but the module's own. */
  readonly pressure: LoadShedder | null;
  /** `null`: the provider is not told who calls in a signed token. */
  readonly identity: IdentitySigner | null;
  /** Who answers for the provider's code; absent: nobody but the host. */
  readonly owner?: ErrorOwner | null;
}

const DEFAULT_BALANCING: Balancing = { strategy: 'round_robin', hashHeader: null, health: null };

/**
 * Stands between the operations and one opened provider: limits, deadline, endpoints, breakers, retries,
 * counts. All policy of a call is here, none in an adapter.
 */
export class ProviderClient {
  /** The header of callers that `consistent_hash` goes by, in lower case; `null` where none does. */
  readonly hashHeader: string | null;
  /** Called after each call has been counted. */
  onCallEnd: (() => void) | null = null;
  /** How often the module may be called. */
  readonly rates: RateLimits;
  readonly #descriptor: Descriptor;
  readonly #pressure: LoadShedder | null;
  readonly #owner: ErrorOwner | null;
  readonly #endpoints: EndpointPool;
  readonly #bulkhead: Bulkhead;
  readonly #dispatcher: Dispatcher;
  readonly #deadlines = new OpenDeadlines();
  #calls = 0;
  #ended = 0;
  #failed = 0;
  #holds = 0;
  #onIdle: (() => void) | null = null;

  constructor({
    provider,
    descriptor,
    log,
    scope,
    pressure,
    identity,
    owner,
  }: ProviderClientOptions) {
    const { strategy, hashHeader, health } = provider.balancing?.() ?? DEFAULT_BALANCING;
    this.hashHeader = hashHeader;
    this.#descriptor = descriptor;
    this.#pressure = pressure;
    this.#owner = owner ?? null;
    this.#endpoints = new EndpointPool(createEndpoints(provider, descriptor, log), strategy);
    this.rates = new RateLimits(descriptor.rate);
    this.#bulkhead = new Bulkhead(descriptor.limits);
    this.#dispatcher = new Dispatcher({
      provider,
      endpoints: this.#endpoints,
      descriptor,
      log,
      identity,
    });
    if (health !== null) {
      startHealthChecks(
        this.#endpoints.all,
        { provider, checks: health, log, owner: this.#owner },
        scope,
      );
    }
  }

  counts(): CallCounts {
    return {
      calls: this.#calls,
      ended: this.#ended,
      failed: this.#failed,
      retries: this.#dispatcher.retries,
      inFlight: this.#bulkhead.inFlight,
      queued: this.#bulkhead.queued,
    };
  }

  /** In the order of the provider; one that names none has one endpoint. */
  endpoints(): readonly EndpointStatus[] {
    return this.#endpoints.all.map(({ status }) => status);
  }

  /** Keeps the version open for one request that has chosen it, from the match to the answer: `release` it once. */
  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    this.#reportIdle();
  }

  /** Resolves when no request needs the version any more; what is left after `timeoutMs` is cut. */
  async drain(timeoutMs: number): Promise<void> {
    if (this.#isIdle()) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    const cut = setTimeout(() => {
      this.#deadlines.cut();
      this.#onIdle?.();
    }, timeoutMs);
    await idle;
    clearTimeout(cut);
  }

  /**
   * @param judge makes of an outcome what the operation wants; what it throws counts as a failure of the
   * provider, and is thrown on
   * @throws ProviderStatus for an outcome that `judge` refuses by its status.
   * @throws GuardFailure when the host holds the call back.
   * @throws ProviderFailure when there was no answer; anything else that an adapter throws is logged as
   * its fault and becomes `protocol`.
   */
  async call<T>(
    call: ProviderCall,
    judge: (outcome: CheckedOutcome) => T,
  ): Promise<ProviderAnswer<T>> {
    this.#calls += 1;
    this.#dispatcher.countCall();
    try {
      this.#pressure?.enter();
    } catch (error) {
      this.#countEnd(true);
      throw error;
    }
    const deadline = new Deadline(call.timeoutMs, call.signal, this.#owner);
    this.#deadlines.add(deadline);
    let isFailed = false;
    try {
      if (!this.#bulkhead.tryEnter()) await this.#waitForTurn(deadline);
      try {
        return await this.#dispatcher.send(call, judge, deadline);
      } finally {
        this.#bulkhead.leave();
      }
    } catch (error) {
      isFailed = !isPassedOn(error, this.#descriptor) && !isCancelled(error);
      throw error;
    } finally {
      deadline.end();
      this.#deadlines.delete(deadline);
      this.#pressure?.leave();
      this.#countEnd(isFailed);
    }
  }

  async #waitForTurn(deadline: Deadline): Promise<void> {
    // With no endpoint to go to there is nothing to wait for.
    if (!this.#endpoints.isAdmitting) throw createOpenBreaker(this.#endpoints.waitMs);
    await this.#bulkhead.wait(deadline);
  }

  #countEnd(isFailed: boolean): void {
    this.#ended += 1;
    if (isFailed) this.#failed += 1;
    this.#reportIdle();
    this.onCallEnd?.();
  }

  #isIdle(): boolean {
    return this.#holds === 0 && this.#deadlines.size === 0;
  }

  #reportIdle(): void {
    if (this.#onIdle !== null && this.#isIdle()) this.#onIdle();
  }
}

/** A caller who has gone is no failure of the module. */
function isCancelled(error: unknown): boolean {
  return isProviderFailure(error) && error.failure === 'cancelled';
}

function createEndpoints(
  provider: Provider,
  { provider: { kind }, breaker }: Descriptor,
  log: Log,
): Endpoint[] {
  const named = provider.endpoints?.() ?? [];
  if (named.length === 0) return [new Endpoint({ id: kind, weight: 1, name: null, breaker, log })];
  return named.map(({ id, weight }) => new Endpoint({ id, weight, name: id, breaker, log }));
}

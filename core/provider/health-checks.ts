import {
  type HealthChecks,
  isProviderFailure,
  type Log,
  type Provider,
  ProviderFailure,
} from '../contract/index.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import type { ModuleScope } from '../isolation/scope.js';
import { toError } from '../lib/to-error.js';
import type { Endpoint } from './endpoint.js';

/** Spreads out the checks of modules that started together. A share of the interval, in both directions. */
const JITTER = 0.1;

interface HealthCheckOptions {
  readonly provider: Provider;
  readonly checks: HealthChecks;
  readonly log: Log;
  /** Owner of errors that abort listeners throw. */
  readonly owner: ErrorOwner | null;
}

/** Checks each endpoint until the scope closes or the endpoint is removed. */
export class EndpointChecks {
  readonly #options: HealthCheckOptions;
  readonly #running = new Map<Endpoint, EndpointCheck>();
  #isClosed = false;

  constructor(options: HealthCheckOptions, scope: Pick<ModuleScope, 'defer'>) {
    this.#options = options;
    scope.defer(() => {
      this.#isClosed = true;
      this.#stopExcept(new Set());
    });
  }

  /** Starts the checks of new endpoints and ends those of removed ones. */
  follow(endpoints: readonly Endpoint[]): void {
    if (this.#isClosed) return;
    this.#stopExcept(new Set(endpoints));
    for (const endpoint of endpoints) {
      if (this.#running.has(endpoint)) continue;
      const check = new EndpointCheck(endpoint, this.#options);
      this.#running.set(endpoint, check);
      check.start();
    }
  }

  #stopExcept(remaining: ReadonlySet<Endpoint>): void {
    for (const [endpoint, check] of this.#running) {
      if (remaining.has(endpoint)) continue;
      check.stop();
      this.#running.delete(endpoint);
    }
  }
}

/** Runs the checks of its endpoint in sequence: a slow check delays the next. */
class EndpointCheck {
  readonly #endpoint: Endpoint;
  readonly #options: HealthCheckOptions;
  #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(endpoint: Endpoint, options: HealthCheckOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
  }

  start(): void {
    // Never rejects; `stop` ends it.
    void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#abort(this.#controller, new ProviderFailure('cancelled', 'the module was closed'));
  }

  async #run(): Promise<void> {
    const startedAt = performance.now();
    const failure = await this.#check();
    if (this.#isStopped) return;
    // Without credentials nothing was sent, so that the state of the endpoint stays unknown.
    if (!isProviderFailure(failure) || failure.phase !== 'preparing') this.#record(failure);
    const interval = this.#options.checks.intervalMs * (1 + JITTER * (2 * Math.random() - 1));
    const rest = interval - (performance.now() - startedAt);
    this.#timer = setTimeout(() => this.start(), Math.max(0, rest)).unref();
  }

  /**
   * @returns the reason why the endpoint cannot serve; `null` if it can. A check that hangs has
   * failed.
   */
  async #check(): Promise<Error | null> {
    const { provider, checks } = this.#options;
    const controller = new AbortController();
    this.#controller = controller;
    const { signal } = controller;
    const timeout = new ProviderFailure('timeout', `no response within ${checks.timeoutMs} ms`);
    const timer = setTimeout(() => this.#abort(controller, timeout), checks.timeoutMs).unref();
    try {
      await rejectOnAbort(provider.check(signal, this.#endpoint.name ?? undefined), signal);
      return null;
    } catch (error) {
      return toError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #abort(controller: AbortController, reason: ProviderFailure): void {
    runAs(this.#options.owner, () => controller.abort(reason));
  }

  #record(failure: Error | null): void {
    const { id, health } = this.#endpoint;
    const isUp = failure === null;
    this.#endpoint.probe(failure?.message ?? null);
    health.contradictions = isUp === health.isUp ? 0 : health.contradictions + 1;
    const { failures, successes } = this.#options.checks;
    if (isUp === health.isUp || health.contradictions < (isUp ? successes : failures)) return;
    health.contradictions = 0;
    health.isUp = isUp;
    const { log } = this.#options;
    if (isUp) log.info({ endpoint: id }, 'endpoint up');
    else log.warn({ endpoint: id, reason: failure.message }, 'endpoint down');
  }
}

function rejectOnAbort(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    // After the adapter's listeners: its failure may be more precise.
    signal.addEventListener('abort', () => setImmediate(reject, signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

import { type HealthChecks, type Log, type Provider, ProviderFailure } from '../contract/index.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';
import type { ModuleScope } from '../isolation/scope.js';
import type { Endpoint } from './endpoint.js';

/** Checks of many modules that started together spread out by it. A share of the interval, either way. */
const JITTER = 0.1;

export interface HealthCheckOptions {
  readonly provider: Provider;
  readonly checks: HealthChecks;
  readonly log: Log;
  /** Who answers for what throws when a check is aborted. */
  readonly owner: ErrorOwner | null;
}

/** Checks each endpoint from now on until the scope closes. */
export function startHealthChecks(
  endpoints: readonly Endpoint[],
  options: HealthCheckOptions,
  scope: Pick<ModuleScope, 'signal' | 'defer'>,
): void {
  for (const endpoint of endpoints) {
    const watch = new EndpointWatch(endpoint, options);
    scope.defer(() => watch.stop());
    watch.start();
  }
}

/** One endpoint, one check at a time: a slow one delays the next, it does not pile up. */
class EndpointWatch {
  readonly #endpoint: Endpoint;
  readonly #options: HealthCheckOptions;
  #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Checks in a row that contradict what is known of the endpoint. */
  #contradictions = 0;

  constructor(endpoint: Endpoint, options: HealthCheckOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
  }

  start(): void {
    // It catches what the check throws, and `stop` ends it.
    void this.#round();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#abort(this.#controller, new ProviderFailure('cancelled', 'the module was closed'));
  }

  async #round(): Promise<void> {
    const startedAt = performance.now();
    const failure = await this.#check();
    if (this.#isStopped) return;
    this.#record(failure);
    const interval = this.#options.checks.intervalMs * (1 + JITTER * (2 * Math.random() - 1));
    const rest = interval - (performance.now() - startedAt);
    this.#timer = setTimeout(() => this.start(), Math.max(0, rest)).unref();
  }

  /** `null` when the endpoint can serve; otherwise why not. An adapter that hangs counts as one that failed. */
  async #check(): Promise<Error | null> {
    const { provider, checks } = this.#options;
    const controller = new AbortController();
    this.#controller = controller;
    const { signal } = controller;
    const late = new ProviderFailure('timeout', `no answer within ${checks.timeoutMs} ms`);
    const timer = setTimeout(() => this.#abort(controller, late), checks.timeoutMs).unref();
    try {
      await rejectOnAbort(provider.check(signal, this.#endpoint.name ?? undefined), signal);
      return null;
    } catch (error) {
      return error instanceof Error ? error : new Error('failed for a reason that is no error');
    } finally {
      clearTimeout(timer);
    }
  }

  #abort(controller: AbortController, reason: ProviderFailure): void {
    runAs(this.#options.owner, () => controller.abort(reason));
  }

  #record(failure: Error | null): void {
    const endpoint = this.#endpoint;
    const isGood = failure === null;
    if (isGood === endpoint.isUp) {
      this.#contradictions = 0;
      return;
    }
    this.#contradictions += 1;
    const { failures, successes } = this.#options.checks;
    if (this.#contradictions < (isGood ? successes : failures)) return;
    this.#contradictions = 0;
    endpoint.isUp = isGood;
    const { log } = this.#options;
    if (isGood) log.info({ endpoint: endpoint.id }, 'the endpoint is up');
    else log.warn({ endpoint: endpoint.id, reason: failure.message }, 'the endpoint is down');
  }
}

function rejectOnAbort(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    // After those of the adapter, which may know more of the failure.
    signal.addEventListener('abort', () => setImmediate(reject, signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

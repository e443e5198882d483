import { randomUUID } from 'node:crypto';
import {
  type Invocation,
  isProviderFailure,
  type Log,
  type Outcome,
  type Provider,
  ProviderFailure,
} from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { IDENTITY_HEADER, type IdentitySigner } from '../identity/identity-keys.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { describeFailure } from '../lib/failure-detail.js';
import type { Deadline } from './deadline.js';
import type { Endpoint } from './endpoint.js';
import type { EndpointPool } from './endpoint-pool.js';
import { EndpointInvocation } from './invocation.js';
import { type CheckedOutcome, checkOutcome, ProviderStatus } from './outcome.js';
import type {
  AttemptResult,
  ParseResponse,
  ProviderAnswer,
  ProviderCall,
} from './provider-call.js';
import { createOpenBreaker, RejectedCall, withStatus } from './rejected-call.js';
import { RetryBudget } from './retry-budget.js';
import { type AttemptVerdict, VERDICTS, verdictOfFailure, verdictOfResponse } from './verdicts.js';

/** Envoy's defaults: 25 ms, and ten times that at most. A retry must fit into the client's timeout. */
const RETRY_BACKOFF: BackoffBounds = { firstMs: 25, maxMs: 250 };

interface DispatcherOptions {
  readonly provider: Provider;
  readonly endpoints: EndpointPool;
  readonly descriptor: Descriptor;
  readonly log: Log;
  /** Signs the actor for the provider; `null`: not signed. */
  readonly identity: IdentitySigner | null;
}

const NONE: readonly Endpoint[] = [];

/** Sends the attempts of a call: chooses endpoints, retries, and reports each result to the breakers. */
export class Dispatcher {
  readonly #provider: Provider;
  readonly #endpoints: EndpointPool;
  readonly #descriptor: Descriptor;
  readonly #log: Log;
  readonly #identity: IdentitySigner | null;
  readonly #budget: RetryBudget;
  #retries = 0;

  constructor({ provider, endpoints, descriptor, log, identity }: DispatcherOptions) {
    this.#provider = provider;
    this.#endpoints = endpoints;
    this.#descriptor = descriptor;
    this.#log = log;
    this.#identity = identity;
    this.#budget = new RetryBudget(descriptor.retry.budget);
  }

  /** Retries so far. */
  get retries(): number {
    return this.#retries;
  }

  /**
   * @throws ProviderStatus for a status that `parse` rejects.
   * @throws RejectedCall when every breaker is open.
   * @throws ProviderFailure when there was no usable response. Any other error of an adapter is logged and
   * becomes `protocol`.
   */
  async send<T>(
    call: ProviderCall,
    parse: ParseResponse<T>,
    deadline: Deadline,
  ): Promise<ProviderAnswer<T>> {
    const id = randomUUID();
    const { route } = call;
    let tried = NONE;
    let failure: unknown;
    this.#budget.deposit();
    for (let attempts = 1; ; attempts += 1) {
      deadline.throwIfAborted();
      const endpoint = this.#endpoints.choose(route, call.hashKey ?? null, tried);
      if (endpoint === null) throw failure ?? createOpenBreaker(this.#endpoints.waitMs(route));
      if (attempts > 1) this.#retries += 1;
      if (call.facts !== undefined) {
        call.facts.attempts = attempts;
        call.facts.endpoint = endpoint.id;
      }
      try {
        return await this.#attempt(id, route, call, parse, deadline, endpoint);
      } catch (error) {
        const delayMs = backoffMs(attempts, RETRY_BACKOFF);
        const leftMs = deadline.leftMs - delayMs;
        if (!this.#canRetry(call, route, error, attempts, leftMs)) throw error;
        failure = error;
        tried = [...tried, endpoint];
        await deadline.pause(delayMs);
      }
    }
  }

  async #attempt<T>(
    id: string,
    route: string | null,
    call: ProviderCall,
    parse: ParseResponse<T>,
    deadline: Deadline,
    endpoint: Endpoint,
  ): Promise<ProviderAnswer<T>> {
    const attempt = endpoint.begin(route);
    let invocation: EndpointInvocation | null = null;
    let verdict: AttemptVerdict = VERDICTS.uncounted;
    try {
      invocation = this.#createInvocation(id, call, deadline, endpoint);
      const outcome = await this.#invoke(invocation, call, deadline);
      invocation.countAll(outcome);
      verdict = verdictOfResponse(outcome.status, false);
      const value = parse(outcome, endpoint);
      verdict = verdictOfResponse(outcome.status, true);
      return { value, status: outcome.status };
    } catch (error) {
      invocation?.discard();
      if (deadline.reason instanceof RejectedCall) {
        throw withStatus(deadline.reason, isProviderFailure(error) ? error.status : null);
      }
      if (error instanceof ProviderStatus) {
        verdict = verdictOfResponse(error.outcome.status, true);
        throw error;
      }
      const failure = this.#translate(error, call);
      if (verdict === VERDICTS.uncounted) verdict = verdictOfFailure(failure);
      throw failure;
    } finally {
      endpoint.end(attempt, verdict);
    }
  }

  /** The time of an attempt ends with the last byte of the response; checking it is the host's time. */
  async #invoke(
    invocation: Invocation,
    call: ProviderCall,
    deadline: Deadline,
  ): Promise<CheckedOutcome> {
    const startedAt = performance.now();
    let outcome: Outcome;
    try {
      outcome = await deadline.race(this.#provider.invoke(invocation));
    } catch (error) {
      endAttempt(call, performance.now() - startedAt, { error });
      throw error;
    }
    endAttempt(call, performance.now() - startedAt, { outcome });
    return checkOutcome(outcome, invocation.maxResponseBytes);
  }

  /** The headers are added to the call's own object: a copy would cost 2.4 µs. */
  #createInvocation(
    id: string,
    call: ProviderCall,
    deadline: Deadline,
    endpoint: Endpoint,
  ): EndpointInvocation {
    const { headers, operation, context } = call;
    headers['modgate-call-id'] = id;
    headers['modgate-deadline-ms'] = String(deadline.wholeMsLeft);
    headers['traceparent'] = call.nextTraceparent();
    if (this.#identity !== null && context.actor !== null) {
      headers[IDENTITY_HEADER] = this.#identity.sign(context, context.actor, id);
    }
    const maxResponseBytes = this.#descriptor.limits.responseBytes;
    const given = { id, operation, headers, context, maxResponseBytes };
    return new EndpointInvocation(given, endpoint.name, deadline, call.held ?? null);
  }

  /** Only failures before the status line are retried. The budget comes last, because it is then paid. */
  #canRetry(
    call: ProviderCall,
    route: string | null,
    error: unknown,
    attempts: number,
    leftMs: number,
  ): boolean {
    return (
      call.isRepeatable === true &&
      attempts <= this.#descriptor.retry.attempts &&
      isProviderFailure(error) &&
      error.failure === 'unavailable' &&
      error.status === null &&
      leftMs > 0 &&
      this.#endpoints.isAdmitting(route) &&
      this.#budget.withdraw()
    );
  }

  #translate(error: unknown, call: ProviderCall): ProviderFailure {
    if (isProviderFailure(error)) {
      // Only the HTTP client can cancel a call; an adapter that reports it otherwise is wrong.
      if (error.failure !== 'cancelled' || call.signal.aborted) return error;
      return new ProviderFailure('protocol', 'the adapter canceled the call', { cause: error });
    }
    this.#log.error(
      { err: error, module: call.context.module, request_id: call.context.requestId },
      'adapter threw an error that is not a ProviderFailure',
    );
    return new ProviderFailure('protocol', 'the adapter failed', {
      cause: error,
      detail: describeFailure(error),
    });
  }
}

function endAttempt(call: ProviderCall, durationMs: number, result: AttemptResult): void {
  const { facts } = call;
  if (facts) facts.providerMs = (facts.providerMs ?? 0) + durationMs;
  call.onAttemptEnd?.(result);
}

import {
  isProviderFailure,
  type Log,
  type Outcome,
  type Provider,
  ProviderFailure,
  type ProviderOperation,
  type Secret,
} from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { IDENTITY_HEADER, type IdentitySigner } from '../identity/identity-keys.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { describeFailure } from '../lib/failure-detail.js';
import { createUuid } from '../lib/random-ids.js';
import type { PaceLimits } from './body-pace.js';
import {
  type AttemptVerdict,
  VERDICTS,
  verdictOfFailure,
  verdictOfResponse,
} from './circuit-breaker.js';
import type { Deadline } from './deadline.js';
import type { Attempt, Endpoint } from './endpoint.js';
import type { EndpointPool } from './endpoint-pool.js';
import { EndpointInvocation } from './invocation.js';
import { createMask, maskFailure } from './mask-failure.js';
import {
  assertOutcome,
  type CheckedOutcome,
  checkLongBody,
  checkOutcome,
  ProviderStatus,
} from './outcome.js';
import type {
  AttemptResult,
  ParseResponse,
  ProviderAnswer,
  ProviderCall,
} from './provider-call.js';
import { RejectedCall, withStatus } from './rejected-call.js';
import { ResponseStream } from './response-stream.js';

/** Envoy's defaults: 25 ms, and ten times that at most. A retry must fit into the client's timeout. */
const RETRY_BACKOFF: BackoffBounds = { firstMs: 25, maxMs: 250 };

interface DispatcherOptions {
  readonly provider: Provider;
  readonly endpoints: EndpointPool;
  readonly descriptor: Descriptor;
  readonly log: Log;
  /** Signs the actor for the provider; `null` does not sign. */
  readonly identity: IdentitySigner | null;
  /** Secrets that no failure may contain. */
  readonly secrets: readonly Secret[];
  readonly budget: RetryBudget;
}

const NONE: readonly Endpoint[] = [];

/**
 * Sends the attempts of a call: chooses endpoints, retries, and reports each result to the
 * breakers.
 */
export class Dispatcher {
  readonly #provider: Provider;
  readonly #endpoints: EndpointPool;
  readonly #descriptor: Descriptor;
  readonly #log: Log;
  readonly #identity: IdentitySigner | null;
  readonly #secrets: readonly Secret[];
  readonly #budget: RetryBudget;
  #retries = 0;

  constructor(options: DispatcherOptions) {
    const { provider, endpoints, descriptor, log, identity, secrets, budget } = options;
    this.#provider = provider;
    this.#endpoints = endpoints;
    this.#descriptor = descriptor;
    this.#log = log;
    this.#identity = identity;
    this.#secrets = secrets;
    this.#budget = budget;
  }

  /** The number of retries so far. */
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
    const { route, id = createUuid() } = call;
    let tried = NONE;
    let failure: unknown;
    const isStreamed = call.response?.holdBytes === 0 || isHandshake(call.operation);
    const rejection = isStreamed ? call.held?.checkRoom() : undefined;
    if (rejection != null) throw rejection;
    this.#budget.deposit();
    for (let attempts = 1; ; attempts += 1) {
      deadline.throwIfAborted();
      const endpoint = this.#endpoints.choose(call, call.hashKey ?? null, tried);
      if (endpoint === null) throw failure ?? this.#endpoints.createRejection(call);
      const attempt = endpoint.begin(route);
      if (attempts > 1) this.#retries += 1;
      else if (call.admit !== undefined) await admit(call.admit, endpoint, attempt);
      if (call.facts !== undefined) {
        call.facts.attempts = attempts;
        call.facts.endpoint = endpoint.id;
      }
      try {
        return await this.#attempt(id, call, parse, deadline, endpoint, attempt);
      } catch (error) {
        const delayMs = backoffMs(attempts, RETRY_BACKOFF);
        const leftMs = deadline.leftMs - delayMs;
        tried = [...tried, endpoint];
        if (!this.#canRetry(call, error, tried, leftMs)) throw error;
        failure = error;
        await deadline.pause(delayMs);
      }
    }
  }

  async #attempt<T>(
    id: string,
    call: ProviderCall,
    parse: ParseResponse<T>,
    deadline: Deadline,
    endpoint: Endpoint,
    attempt: Attempt,
  ): Promise<ProviderAnswer<T>> {
    let invocation: EndpointInvocation | null = null;
    let verdict: AttemptVerdict = VERDICTS.uncounted;
    let detail: string | null = null;
    let stream: ResponseStream | null = null;
    let opened: CheckedOutcome['connection'] = null;
    try {
      invocation = this.#createInvocation(id, call, deadline, endpoint);
      const outcome = await this.#invoke(invocation, call, deadline);
      stream = outcome.stream;
      opened = outcome.connection;
      invocation.countAll(outcome);
      verdict = verdictOfResponse(outcome.status, false);
      if (verdict === VERDICTS.serverError) detail = `status ${outcome.status}`;
      const checked = checkLongBody(outcome);
      const whole = checked instanceof Promise ? await checked : checked;
      const parsed = parse(whole, endpoint, call.operation);
      const value = parsed instanceof Promise ? await parsed : parsed;
      verdict = verdictOfResponse(outcome.status, true);
      const { status, connection } = outcome;
      if (stream?.isOpen !== true) return { value, status, stream: null, connection };
      deadline.release();
      if (stream.isEndless) {
        // A stream may be open for hours: breakers and load balancing count its head.
        endpoint.end(attempt, verdict, detail);
        return { value, status, stream, connection: null };
      }
      stream.onEnd((failure) => {
        if (failure === null) endpoint.end(attempt, verdict, detail);
        else endpoint.end(attempt, verdictOfFailure(failure), this.#describe(failure, call));
      });
      return { value, status, stream, connection: null };
    } catch (error) {
      opened?.destroy();
      stream?.close();
      stream = null;
      invocation?.discard();
      if (deadline.reason instanceof RejectedCall) {
        throw withStatus(deadline.reason, isProviderFailure(error) ? error.status : null);
      }
      if (error instanceof ProviderStatus) {
        verdict = verdictOfResponse(error.outcome.status, true);
        detail = `status ${error.outcome.status}`;
        throw error;
      }
      const failure = this.#mask(this.#translate(error, call), call);
      detail = describeFailure(failure);
      if (verdict === VERDICTS.uncounted) verdict = verdictOfFailure(failure);
      throw failure;
    } finally {
      if (stream?.isOpen !== true) endpoint.end(attempt, verdict, detail);
    }
  }

  /**
   * The time of an attempt ends with the last byte of the response, and excludes its validation.
   */
  async #invoke(
    invocation: EndpointInvocation,
    call: ProviderCall,
    deadline: Deadline,
  ): Promise<CheckedOutcome> {
    const { maxResponseBytes: maxBytes, holdBytes } = invocation;
    const startedAt = performance.now();
    const isUpgrade = isHandshake(invocation.operation);
    const answer = this.#provider.invoke(invocation);
    let outcome: Outcome;
    try {
      outcome = await deadline.race(answer);
      assertOutcome(outcome);
    } catch (thrown) {
      // Closes a connection that arrives too late, because it has no other owner.
      if (isUpgrade) void answer.then(({ connection }) => connection?.destroy()).catch(() => {});
      const error = this.#mask(thrown, call);
      endAttempt(call, performance.now() - startedAt, { error });
      throw error;
    }
    endAttempt(call, performance.now() - startedAt, { outcome });
    if (outcome.body === null && invocation.headFailure !== null) throw invocation.headFailure;
    if (isUpgrade) return checkAnswer(outcome, maxBytes);
    if (holdBytes === undefined) return checkOutcome(outcome, maxBytes);
    const limits = this.#paceOf(call);
    return checkOutcome(outcome, maxBytes, (source, status, announced) => {
      const hold = (bytes: number) => invocation.countUpTo(bytes);
      const isEndless = call.response?.events !== undefined;
      const bounds = { maxBytes, announced, limits, isEndless };
      const stream = new ResponseStream({ source, deadline, status, ...bounds, hold });
      // Rejected before its head, rather than cut as soon as the client falls behind.
      const rejection = call.held?.checkRoom() ?? null;
      if (rejection !== null) throw stream.reject(rejection);
      return stream;
    });
  }

  /** Events may be small and rare. */
  #paceOf({ response }: ProviderCall): PaceLimits {
    const { limits } = this.#descriptor;
    if (response?.events === undefined) return limits;
    return {
      body_idle_ms: limits.body_idle_ms,
      body_min_bytes_s: 0,
      provider_idle_ms: response.events.idleMs,
    };
  }

  /** The headers are added to the call's own object: a copy would cost 2.4 µs. */
  #createInvocation(
    id: string,
    call: ProviderCall,
    deadline: Deadline,
    endpoint: Endpoint,
  ): EndpointInvocation {
    const { headers, operation } = call;
    headers['modgate-call-id'] = id;
    // A response that is always streamed has no such end.
    const isStreamed =
      call.upload !== undefined || call.response?.holdBytes === 0 || isHandshake(operation);
    if (!isStreamed) headers['modgate-deadline-ms'] = String(deadline.wholeMsLeft);
    headers['traceparent'] = call.nextTraceparent();
    if (this.#identity !== null && call.identity != null) {
      headers[IDENTITY_HEADER] = this.#identity.sign(call.identity, id);
    }
    const { limits } = this.#descriptor;
    return new EndpointInvocation(id, call, endpoint.name, deadline, limits);
  }

  /**
   * Retries only failures before the status line. A call that must not be repeated is sent to an
   * endpoint that was not tried if nothing of it was sent. The budget is checked last, because it
   * is then used.
   */
  #canRetry(
    call: ProviderCall,
    error: unknown,
    tried: readonly Endpoint[],
    leftMs: number,
  ): boolean {
    return (
      isProviderFailure(error) &&
      error.failure === 'unavailable' &&
      error.phase !== 'preparing' &&
      error.status === null &&
      call.upload?.isStarted !== true &&
      (call.isRepeatable === true || error.phase === 'connecting') &&
      tried.length <= this.#descriptor.retry.attempts &&
      leftMs > 0 &&
      this.#endpoints.isAdmitting(call, call.isRepeatable === true ? NONE : tried) &&
      this.#budget.withdraw()
    );
  }

  #describe(failure: ProviderFailure, call: ProviderCall): string {
    return describeFailure(this.#mask(failure, call));
  }

  #mask<E>(error: E, call: ProviderCall): E | ProviderFailure {
    return maskFailure(error, createMask(this.#secrets, call));
  }

  #translate(error: unknown, call: ProviderCall): ProviderFailure {
    if (isProviderFailure(error)) {
      // Only the HTTP client can cancel a call; any other report of an adapter is wrong.
      const isCancelled = call.signal.aborted || (call.upload?.failure ?? null) !== null;
      if (error.failure !== 'cancelled' || isCancelled) return error;
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

/** Admits a call that holds its place at an endpoint, so that no later check can reject it. */
async function admit(
  admitCall: () => Promise<void>,
  endpoint: Endpoint,
  attempt: Attempt,
): Promise<void> {
  try {
    await admitCall();
  } catch (error) {
    endpoint.abandon(attempt);
    throw error;
  }
}

/** @throws ProviderFailure `protocol`; the connection is closed. */
function checkAnswer(outcome: Outcome, maxBytes: number): CheckedOutcome {
  try {
    return checkOutcome(outcome, maxBytes, null, true);
  } catch (error) {
    outcome.connection?.destroy?.();
    throw error;
  }
}

function isHandshake(operation: ProviderOperation): boolean {
  return operation.kind === 'http_route' && operation.upgrade !== undefined;
}

function endAttempt(call: ProviderCall, durationMs: number, result: AttemptResult): void {
  const { facts } = call;
  if (facts) facts.provider_ms = (facts.provider_ms ?? 0) + durationMs;
  call.onAttemptEnd?.(result);
}

/** Millionths of a retry: shares such as 0.1 do not add up to 1 in floating point. */
const RETRY = 1_000_000;
/** Capacity and initial content of the bucket. */
const CAPACITY = 10 * RETRY;

/** Limits retries to a share of the calls, so that they do not multiply the load on a failing provider. */
export class RetryBudget {
  readonly #deposit: number;
  #tokens = CAPACITY;

  /** @param share the fraction of a retry that each call adds */
  constructor(share: number) {
    this.#deposit = Math.round(share * RETRY);
  }

  deposit(): void {
    this.#tokens = Math.min(CAPACITY, this.#tokens + this.#deposit);
  }

  /** Pays for a retry. @returns whether the budget covers it. */
  withdraw(): boolean {
    if (this.#tokens < RETRY) return false;
    this.#tokens -= RETRY;
    return true;
  }
}

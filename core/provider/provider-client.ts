import {
  type Actor,
  type Balancing,
  isProviderFailure,
  type Manifest,
  type Provider,
  type ProviderFact,
  type Secret,
  type StreamForm,
} from '../contract/index.js';
import { QueueFull } from '../contract/semaphore.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { ErrorOwner } from '../isolation/error-owner.js';
import { nameShare } from '../lib/actor-name.js';
import { shortenMasked } from '../lib/secrets/mask-secrets.js';
import type { AdapterCounters } from './adapter-counters.js';
import { beginUpload } from './begin-upload.js';
import { Bulkhead } from './bulkhead.js';
import { MIN_SERVER_ERROR } from './circuit-breaker.js';
import { Deadline, OpenDeadlines } from './deadline.js';
import { Dispatcher, RetryBudget } from './dispatcher.js';
import type { EndpointStatus } from './endpoint.js';
import type { EndpointBase } from './endpoint-base.js';
import type { EndpointPool } from './endpoint-pool.js';
import { type CallCounts, type CallTotals, KnownModule } from './known-module.js';
import type { LoadShedder } from './load-shedding.js';
import { createMask, listInvalidParts } from './mask-failure.js';
import { type CurrentEndpoints, ModuleEndpoints, type Resolution } from './module-endpoints.js';
import { type HostEndReason, type OpenStream, OpenStreams } from './open-streams.js';
import { isPassthroughError, ProviderStatus } from './outcome.js';
import type { ParseResponse, ProviderAnswer, ProviderCall } from './provider-call.js';
import type { ProviderClientOptions } from './provider-client-options.js';
import { readFacts } from './provider-facts.js';
import { LocalRates } from './rate-limiter.js';
import { RateLimits } from './rate-limits.js';
import { createOverload } from './rejected-call.js';
import type { ResponseStream } from './response-stream.js';

const MAX_PROBLEM_LENGTH = 200;
const DEFAULT_BALANCING: Balancing = { strategy: 'round_robin', hashHeader: null, health: null };

/**
 * Calls one opened provider. Limits, deadline, load balancing, breakers, retries and counts are applied
 * here, never in an adapter.
 */
export class ProviderClient {
  /** The request header that is the key of `consistent_hash`, in lower case; `null` for other strategies. */
  readonly hashHeader: string | null;
  /** Called after each call, and each stream that broke off, is counted. */
  onCallEnd: (() => void) | null = null;
  /** `null` for no limit. */
  readonly rates: RateLimits | null;
  readonly totals: CallTotals;
  readonly adapterCounters: AdapterCounters;
  /** Whether the provider receives HEAD, and bodies as streams. */
  readonly streams: boolean;
  readonly #provider: Provider;
  readonly #secrets: readonly Secret[];
  /** Whether the provider receives handshakes of WebSockets. */
  readonly upgrades: boolean;
  readonly #openStreams: OpenStreams;
  readonly #descriptor: Descriptor;
  readonly #loadShedder: LoadShedder | null;
  readonly #owner: ErrorOwner | null;
  readonly #moduleEndpoints: ModuleEndpoints;
  readonly #endpoints: EndpointPool;
  /** Limits the concurrent calls, so that a hanging module cannot fill the host. */
  readonly #bulkhead: Bulkhead;
  readonly #dispatcher: Dispatcher;
  /** The deadlines of the calls in progress. */
  readonly #deadlines = new OpenDeadlines();
  #calls = 0;
  #ended = 0;
  #failed = 0;
  #holds = 0;
  #onIdle: (() => void) | null = null;

  constructor({
    provider,
    streams = false,
    upgrades = false,
    openStreams = new OpenStreams(),
    rates = new LocalRates(),
    descriptor,
    log,
    scope,
    loadShedder,
    identity,
    secrets = [],
    owner,
    known = new KnownModule(),
    connection = '',
  }: ProviderClientOptions) {
    const { totals } = known;
    this.totals = totals;
    this.adapterCounters = known.counters;
    this.streams = streams;
    this.#provider = provider;
    this.#secrets = secrets;
    this.upgrades = upgrades;
    this.#openStreams = openStreams;
    const balancing = provider.balancing?.() ?? DEFAULT_BALANCING;
    this.hashHeader = balancing.hashHeader;
    this.#descriptor = descriptor;
    this.#loadShedder = loadShedder;
    this.#owner = owner ?? null;
    this.#moduleEndpoints = new ModuleEndpoints({
      provider,
      balancing,
      descriptor,
      log,
      scope,
      owner: this.#owner,
      known,
      connection,
      onResolveFailures: (count) => {
        totals.resolveFailures = (totals.resolveFailures ?? 0) + count;
      },
    });
    this.#endpoints = this.#moduleEndpoints.pool;
    this.rates = RateLimits.create(descriptor.module, descriptor.rate, rates);
    const { concurrency, queue, queue_ms } = descriptor.limits;
    this.#bulkhead = new Bulkhead(concurrency, queue_ms === 0 ? 0 : queue);
    const { budget: share } = descriptor.retry;
    const budget = known.use(['retries', share], '', () => new RetryBudget(share));
    scope.defer(() => budget.release());
    this.#dispatcher = new Dispatcher({
      provider,
      endpoints: this.#endpoints,
      descriptor,
      log,
      identity,
      secrets,
      budget: budget.state,
    });
  }

  /** Called when the version is bound to a manifest. */
  useRoutes(routes: Manifest['http_routes']): void {
    // Callers without credentials leave places to others.
    this.#bulkhead.keepsPlaces = routes.some(({ access }) => access !== 'public');
    this.#moduleEndpoints.keepRoutes(
      new Set(routes.map(({ method, path }) => `${method} ${path}`)),
    );
  }

  /** The bases of the endpoints that name a URL, without duplicates. */
  get bases(): readonly EndpointBase[] {
    return this.#moduleEndpoints.bases;
  }

  get currentEndpoints(): CurrentEndpoints {
    return this.#moduleEndpoints;
  }

  /** The resolution of the endpoints; `null` for a provider that names them. */
  get resolution(): Resolution | null {
    return this.#moduleEndpoints.resolution;
  }

  /**
   * Counts a stream against the limits of the module, over all its versions.
   * @returns a handle that ends it
   * @throws TooManyStreams of the actor; RejectedCall `overloaded` for those of the module.
   */
  openStream(form: StreamForm, actor: Actor): OpenStream {
    const { module, limits } = this.#descriptor;
    const share = nameShare(actor);
    const onFailure = () => {
      this.#countFailure();
      this.onCallEnd?.();
    };
    return this.#openStreams.open({ form, module, share, client: this, onFailure }, limits.stream);
  }

  /** The number of open streams, over all versions of the module. */
  get openStreams(): number {
    return this.#openStreams.countOf(this.#descriptor.module);
  }

  /** Ends the streams of this version. */
  endStreams(reason: HostEndReason): void {
    this.#openStreams.end(reason, this);
  }

  /** The error of the last request for credentials; `null` after a success. */
  credentialProblem(): string | null {
    const problem = this.#provider.credentialProblem?.() ?? null;
    return problem && shortenMasked(problem, MAX_PROBLEM_LENGTH, createMask(this.#secrets));
  }

  /** What the provider says about itself. */
  facts(): readonly ProviderFact[] {
    return readFacts(this.#provider, createMask(this.#secrets));
  }

  counts(): CallCounts {
    return {
      calls: this.#calls,
      ended: this.#ended,
      failed: this.#failed,
      retries: this.#dispatcher.retries,
      inFlight: this.#bulkhead.running,
      queued: this.#bulkhead.waiting,
      sending: this.#bulkhead.sending,
    };
  }

  /** Lists endpoints in the provider's order; a provider that names none has one endpoint. */
  endpoints(): readonly EndpointStatus[] {
    return this.#endpoints.all.map(({ status }) => status);
  }

  /** Keeps the version open for one request, from its start to its response: `release` it once. */
  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    this.#reportIdle();
  }

  /**
   * Resolves when no request uses the version. Calls in flight after `timeoutMs` are aborted; event
   * streams and WebSockets have `closeMs` more.
   */
  async drain(timeoutMs: number, closeMs: number): Promise<void> {
    if (this.#isIdle()) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      timer = setTimeout(() => {
        if (this.#deadlines.cut()) timer = setTimeout(resolve, closeMs);
        else resolve();
      }, timeoutMs);
    });
    clearTimeout(timer);
  }

  /**
   * @throws ProviderStatus for a status that `parse` rejects.
   * @throws RejectedCall when a limit or an open breaker prevents the call.
   * @throws ProviderFailure when there was no usable response. Any other error of an adapter is logged and
   * becomes `protocol`.
   */
  async call<T>(call: ProviderCall, parse: ParseResponse<T>): Promise<ProviderAnswer<T>> {
    this.#calls += 1;
    this.totals.calls += 1;
    try {
      this.#loadShedder?.enter();
    } catch (error) {
      this.#countEnd(true);
      throw error;
    }
    const deadline = new Deadline(call.timeoutMs, call.signal, this.#owner);
    this.#deadlines.add(deadline);
    let hasPlace = false;
    let isFailed = false;
    let stream: ResponseStream | null = null;
    let isOpen = false;
    let endUpload = () => {};
    const share = shareOf(call.context);
    const end = () => {
      this.#close(deadline, endUpload);
      this.#leave(isFailed);
    };
    try {
      if (call.upload !== undefined) {
        endUpload = beginUpload(this.#bulkhead, share, call.upload, deadline);
      }
      hasPlace = this.#bulkhead.enter(share) || (await this.#waitForTurn(call, share, deadline));
      const answer = await this.#dispatcher.send(call, parse, deadline);
      ({ stream } = answer);
      isFailed = answer.status >= MIN_SERVER_ERROR;
      const { connection } = answer;
      if (connection !== null) {
        isOpen = true;
        deadline.isEndless = true;
        // The call ends, but the version stays open with the stream.
        this.#leave(isFailed);
        deadline.end();
        if (connection.closed) this.#close(deadline, endUpload);
        else connection.once('close', () => this.#close(deadline, endUpload));
        return answer;
      }
      if (stream?.isEndless === true) {
        deadline.isEndless = true;
        this.#leave(isFailed);
        stream.onEnd(() => this.#close(deadline, endUpload));
        return answer;
      }
      stream?.onEnd((failure) => {
        isFailed ||= isFailureOfProvider(failure);
        end();
      });
      if (call.held !== undefined) {
        // Kept until the response is sent.
        call.held.keepPlace(this.#bulkhead, share);
        hasPlace = false;
      }
      return answer;
    } catch (error) {
      isFailed = isFailureOfProvider(error) && !isPassthroughError(error, this.#descriptor);
      throw error;
    } finally {
      if (hasPlace) this.#bulkhead.release(share);
      if (stream === null && !isOpen) end();
    }
  }

  #close(deadline: Deadline, endUpload: () => void): void {
    deadline.end();
    this.#deadlines.delete(deadline);
    endUpload();
    this.#reportIdle();
  }

  #leave(isFailed: boolean): void {
    this.#loadShedder?.leave();
    this.#countEnd(isFailed);
  }

  async #waitForTurn(call: ProviderCall, share: string, deadline: Deadline): Promise<true> {
    // Waiting is pointless while every breaker is open.
    if (!this.#endpoints.isAdmitting(call)) throw this.#endpoints.createRejection(call);
    deadline.throwIfAborted();
    try {
      const timeoutMs = this.#descriptor.limits.queue_ms;
      // The calls of different actors take turns, so that no actor can exclude the others.
      await this.#bulkhead.acquire({ signal: deadline, timeoutMs, share });
      return true;
    } catch (error) {
      deadline.throwIfAborted();
      if (!(error instanceof QueueFull)) throw error;
      const { concurrency } = this.#descriptor.limits;
      throw createOverload('limits.concurrency', `concurrency limit ${concurrency}`);
    }
  }

  #countEnd(isFailed: boolean): void {
    this.#ended += 1;
    if (isFailed) this.#countFailure();
    this.#reportIdle();
    this.onCallEnd?.();
  }

  #countFailure(): void {
    this.#failed += 1;
    this.totals.failed += 1;
  }

  #isIdle(): boolean {
    return this.#holds === 0 && this.#deadlines.size === 0;
  }

  #reportIdle(): void {
    if (this.#onIdle !== null && this.#isIdle()) this.#onIdle();
  }
}

function shareOf({ actor }: ProviderCall['context']): string {
  return actor === null ? '' : nameShare(actor);
}

/** Any other error is that of the host, such as for a call that is not admitted. */
function isFailureOfProvider(error: unknown): boolean {
  if (error instanceof ProviderStatus) return true;
  // Neither a disconnected client nor an invalid request is a failure of the module.
  return (
    isProviderFailure(error) &&
    error.failure !== 'cancelled' &&
    listInvalidParts(error).length === 0
  );
}

import type { Actor } from '../contract/index.js';
import { HostError } from '../errors.js';
import { nameShare } from '../lib/actor-name.js';
import { andThen } from '../lib/promises.js';
import { createLimits } from '../lib/token-buckets.js';
import type { LiveModule, RoutedModule } from '../modules/live-module.js';
import type { RateLimiter, RateLimiters } from '../provider/rate-limiter.js';
import type { RateLimits, RateRejection, RateStatus } from '../provider/rate-limits.js';
import { toRetryAfterSeconds } from '../provider/rejected-call.js';
import { unknown } from './explain/step-report.js';
import type { CallerRequest } from './request.js';
import type { RouteStep } from './step.js';

const MS_PER_SECOND = 1000;

const DETAILS: Readonly<Record<RateRejection['limit'], string>> = {
  client: 'the rate limit of the address is exceeded',
  actor: 'the rate limit of the caller is exceeded',
  module: 'the rate limit of the module is exceeded',
};

/** The object that stores the headers of the reply. */
type Limited = Pick<CallerRequest, 'replyHeaders'>;

type LimitedRequest = Limited & Pick<CallerRequest, 'actor' | 'client' | 'hostRate'>;

/** Limits how often each actor may call this host, over all routes. */
export class ActorRate {
  rejected = 0;
  readonly #limiter: RateLimiter;

  private constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  /** Returns `null` for a rate of 0, which means no limit. */
  static create(perSecond: number, burst: number, limiters: RateLimiters): ActorRate | null {
    const limits = createLimits(perSecond, burst);
    return limits === null ? null : new ActorRate(limiters.create('actor', limits));
  }

  /** Returns a promise only if another process must be asked. @throws HostError 429, 503. */
  admit(actor: Actor, request?: Limited): void | Promise<void> {
    return andThen(this.#limiter.take(nameShare(actor)), (waitMs) =>
      this.#assertAdmitted(waitMs, actor, request),
    );
  }

  status(actor: Actor): RateStatus {
    const { limits } = this.#limiter;
    return { name: 'actor', limits, ...this.#limiter.level(nameShare(actor)) };
  }

  #assertAdmitted(waitMs: number, actor: Actor, request: Limited | undefined): void {
    if (waitMs === 0) return;
    this.rejected += 1;
    const rejection: RateRejection = { limit: 'actor', waitMs, status: this.status(actor) };
    throw createRateError(rejection, request);
  }
}

/**
 * Enforces the rate limits of the module. It follows authorization, so that unauthorized callers do
 * not use them up.
 */
export const rateStep: RouteStep<
  { readonly module: Pick<LiveModule, 'client'> | null; readonly request: LimitedRequest },
  { readonly module: RoutedModule | null }
> = {
  name: 'rate',
  appliesTo: (_route, module) => isLimited(module),
  run({ module, request }) {
    const rates = module?.client.rates ?? null;
    if (rates !== null) return enforceRateLimit(rates, request);
  },
  explain({ module }) {
    if (module === null || !isLimited(module)) return undefined;
    return unknown('a call above a rate limit of the module is 429');
  },
};

function isLimited({ descriptor: { rate } }: RoutedModule): boolean {
  return rate.per_second + rate.actor_per_second + rate.client_per_second > 0;
}

/**
 * Returns a promise only if another process must be asked.
 * @throws HostError 429, 503.
 */
export function enforceRateLimit(rates: RateLimits, request: LimitedRequest): void | Promise<void> {
  const { actor } = request;
  const address = request.client?.address ?? null;
  const settle = (rejection: RateRejection | null): void => {
    if (rejection !== null) throw createRateError(rejection, request);
    if (!rates.areShown) return;
    const { hostRate } = request;
    const limits = [...(hostRate === null ? [] : [hostRate]), ...rates.list(actor, address)];
    if (limits.length > 0) request.replyHeaders = createRateHeaders(limits);
  };
  return andThen(rates.check(actor, address), settle);
}

function createRateError(
  { limit, waitMs, status }: RateRejection,
  request: Limited | undefined,
): HostError {
  if (request !== undefined) {
    // The same time as `retry-after`.
    request.replyHeaders = createRateHeaders([{ ...status, remaining: 0, resetMs: waitMs }]);
  }
  return createRateLimitError(limit, DETAILS[limit], waitMs);
}

/** Creates a 429 with the time after which the caller may try again. */
export function createRateLimitError(field: string, detail: string, waitMs: number): HostError {
  const seconds = toRetryAfterSeconds(waitMs);
  return new HostError('rate_limited', detail, {
    step: 'rate',
    errors: [{ field, reason: 'rate limit' }],
    nextActions: [`try again in ${seconds} s`],
    headers: { 'retry-after': String(seconds) },
  });
}

/**
 * Creates `ratelimit` and `ratelimit-policy` (draft-ietf-httpapi-ratelimit-headers-10): the
 * remaining rate and the policy of each limit. The quota of a policy is the burst; its window is
 * the time in which an empty bucket fills up.
 */
function createRateHeaders(limits: readonly RateStatus[]): readonly string[] {
  const remainingRates = limits.map(({ name, remaining, resetMs }) => {
    return `"${name}";r=${remaining};t=${toSeconds(resetMs)}`;
  });
  const policies = limits.map(({ name, limits: { burst, perSecond } }) => {
    const windowMs = (burst / perSecond) * MS_PER_SECOND;
    return `"${name}";q=${burst};w=${Math.max(1, toSeconds(windowMs))}`;
  });
  return ['ratelimit', remainingRates.join(', '), 'ratelimit-policy', policies.join(', ')];
}

function toSeconds(ms: number): number {
  return Math.ceil(ms / MS_PER_SECOND);
}

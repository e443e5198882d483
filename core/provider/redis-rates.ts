import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Log } from '../contract/index.js';
import { createUnavailable } from '../errors.js';
import { isHandshakeFailure } from '../lib/tls-problem.js';
import { type BucketLimits, levelOf } from '../lib/token-buckets.js';
import { createLogInterval } from '../log/log-interval.js';
import { DrawnTokens, type TokenGrant } from './drawn-tokens.js';
import type { OnLoss, RateLimiter, RateLimiters } from './rate-limiter.js';

/** The maximum time that a request waits for Redis. Milliseconds. */
const ASK_TIMEOUT_MS = 50;
/** The time after a failure before the host calls Redis again. Milliseconds. */
const RETRY_MS = 1000;
const CONNECT_TIMEOUT_MS = 1000;
/** A connection that does not answer for this time leads nowhere: TCP itself takes minutes. */
const SILENCE_TIMEOUT_MS = 1000;
/** Answers of a replica. After a failover, the address leads to another server. */
const NOT_PRIMARY = /\b(READONLY|MASTERDOWN)\b/;
const MAX_RECONNECT_MS = 2000;
const WARN_INTERVAL_MS = 60_000;
/** The fraction of a burst that all processes together may hold unused. */
const SHARE_OF_BURST = 0.05;
/** The interval at which a process announces its presence. Milliseconds. */
const PRESENCE_MS = 2000;
/** The timeout of the announcement, for which no request waits. Milliseconds. */
const ANNOUNCE_TIMEOUT_MS = 1000;
/** A process without an announcement for this time no longer counts. Milliseconds. */
const ABSENT_AFTER_MS = 6000;

/** The token bucket, on the clock of Redis. A clock that jumps back adds no tokens. */
const DRAW = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local per_second, burst, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]) or burst, tonumber(bucket[2]) or now
tokens = math.min(burst, tokens + math.max(0, now - at) / 1000 * per_second)
local granted = math.min(wanted, math.floor(tokens))
tokens = tokens - granted
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(burst / per_second * 1000) + 1000)
return {granted, tostring(tokens)}
`;

/** Counts the processes that share limits. */
const PRESENT = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
`;

interface RedisRatesOptions {
  /** `redis://…`; it may contain a password. */
  readonly url: string;
  /** Hosts of other fleets have separate limits. */
  readonly fleet: string | null;
  /**
   * The limiters of limits that are not shared, and of this host's share while Redis does not
   * respond.
   */
  readonly local: RateLimiters;
  readonly log: Log;
}

/**
 * Rate limits over all hosts: token buckets in Redis, from which each process draws a few tokens in
 * advance. While Redis does not respond within 50 ms, the `on_loss` of a limit applies.
 */
export class RedisRates implements RateLimiters {
  readonly #redis: Redis;
  readonly #options: RedisRatesOptions;
  readonly #process = randomUUID();
  readonly #mayWarn = createLogInterval(WARN_INTERVAL_MS);
  readonly #timer: NodeJS.Timeout;
  #lostUntil = 0;
  /** The number of processes that shared the limits at the last response of Redis. */
  #processes = 1;

  private constructor(redis: Redis, options: RedisRatesOptions) {
    this.#redis = redis;
    this.#options = options;
    redis.on('error', (error) => this.#markUnreachable(error));
    // Never rejects.
    this.#timer = setInterval(() => void this.#announce(), PRESENCE_MS).unref();
  }

  /** Loads the client, which only hosts with --redis need. Redis may be down. */
  static async open(options: RedisRatesOptions): Promise<RedisRates> {
    const { Redis: Client } = await import('ioredis');
    const redis = new Client(options.url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_TIMEOUT_MS,
      reconnectOnError: ({ message }) => NOT_PRIMARY.test(message),
      retryStrategy: (attempt) => Math.min(MAX_RECONNECT_MS, attempt * 100),
    });
    const rates = new RedisRates(redis, options);
    await redis.connect().catch((error: unknown) => rates.#markUnreachable(error));
    await rates.#announce();
    return rates;
  }

  create(id: string, limits: BucketLimits, onLoss: OnLoss | null = null): RateLimiter {
    const { local } = this.#options;
    if (onLoss === null) return local.create(id, limits);
    const limiter = new DrawnTokens(limits, (key, requested) =>
      this.#draw(id, limits, key, requested),
    );
    const takeAlone = (key: string) => this.#takeAlone(id, limits, onLoss, key);
    return {
      limits,
      take: (key) => {
        if (performance.now() < this.#lostUntil) return takeAlone(key);
        const taken = limiter.take(key);
        return taken instanceof Promise ? taken.catch(() => takeAlone(key)) : taken;
      },
      level: (key) => limiter.level(key),
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#redis.disconnect();
  }

  /** @throws HostError 503 for `closed`. */
  #takeAlone(id: string, limits: BucketLimits, onLoss: OnLoss, key: string) {
    if (onLoss === 'open') return 0;
    if (onLoss === 'closed') {
      throw createUnavailable('the rate cannot be checked now', { step: 'rate' });
    }
    const share = {
      perSecond: limits.perSecond / this.#processes,
      burst: Math.max(1, Math.floor(limits.burst / this.#processes)),
    };
    return this.#options.local.create(`${id} share`, share).take(key);
  }

  async #draw(
    id: string,
    limits: BucketLimits,
    key: string,
    requested: number,
  ): Promise<TokenGrant> {
    const share = Math.floor((limits.burst * SHARE_OF_BURST) / this.#processes);
    const { perSecond, burst } = limits;
    const name = `${this.#prefix()}rate:${id} ${perSecond} ${burst}:${key}`;
    const args = [perSecond, burst, Math.max(requested, share)];
    const reply = await this.#ask(DRAW, name, args, ASK_TIMEOUT_MS);
    const [granted, tokens] = reply as [number, string];
    return { granted, isAhead: share > requested, level: levelOf(Number(tokens), limits) };
  }

  async #announce(): Promise<void> {
    try {
      const args = [this.#process, ABSENT_AFTER_MS];
      const name = `${this.#prefix()}processes`;
      const count = await this.#ask(PRESENT, name, args, ANNOUNCE_TIMEOUT_MS);
      this.#processes = Math.max(1, Number(count));
    } catch {
      // Reported by `#markUnreachable`.
    }
  }

  #prefix(): string {
    return `modgate:${this.#options.fleet ?? ''}:`;
  }

  async #ask(
    script: string,
    key: string,
    args: readonly (string | number)[],
    timeoutMs: number,
  ): Promise<unknown> {
    try {
      return await answerInTime(this.#redis.eval(script, 1, key, ...args), timeoutMs);
    } catch (error) {
      this.#markUnreachable(error);
      throw error;
    }
  }

  #markUnreachable(error: unknown): void {
    this.#lostUntil = performance.now() + RETRY_MS;
    if (!this.#mayWarn()) return;
    // The error itself contains the command, which may have the password.
    const { message, code = '' } = error as { message?: string; code?: string };
    // The message of such an error names lines of the source of OpenSSL.
    const reason = (!isHandshakeFailure(code) && message) || code || 'no answer';
    this.#options.log.warn({ reason }, 'redis unavailable: shared rates are what on_loss says');
  }
}

/**
 * Accepts responses that have arrived during a long turn of the event loop, whose timers run before
 * it reads them. @throws Error
 */
function answerInTime<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => setImmediate(() => reject(new Error('no answer in time')));
    const timer = setTimeout(expire, timeoutMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

import { LRUCache } from 'lru-cache';
import { createToken } from '../../injection.js';
import type { EndpointBase } from '../../provider/endpoint-base.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { EntryIndex, type EntryPlace, type Purge } from './entry-index.js';
import type { PurgeChannel } from './purge-channel.js';

/** The memory of an entry besides its bytes: objects, index and key. Measured: 700 bytes. */
const ENTRY_OVERHEAD_BYTES = 1024;

export interface CachedResponse {
  readonly place: EntryPlace;
  /** A complete 200. */
  readonly outcome: CheckedOutcome;
  /** The base of the endpoint that responded. */
  readonly base: EndpointBase | null;
  /** The age of the response at its arrival. Seconds. */
  readonly ageAtStart: number;
  /** On the monotonic clock, like the two following members. Milliseconds. */
  readonly storedAt: number;
  readonly freshUntil: number;
  /** Until then it may be served while a new one is fetched. */
  readonly staleUntil: number;
}

/** A call of the provider whose response may be cached. */
export interface CacheFill {
  readonly key: string;
  readonly place: EntryPlace;
  /** Whether it was purged meanwhile, so that its response is outdated. */
  isPurged: boolean;
  /** The cached response; `null` for none. Never rejects. */
  readonly kept: Promise<CachedResponse | null>;
  /** Ends the fill. */
  readonly settle: (kept: CachedResponse | null) => void;
}

/** The cache of one process; the least recently used entry is evicted first. */
export class ResponseCache {
  readonly #kept: LRUCache<string, CachedResponse>;
  readonly #fills = new Map<string, CacheFill>();
  readonly #index = new EntryIndex<CacheFill>();
  readonly #purges: PurgeChannel;

  /**
   * @param maxBytes the maximum of all entries together; at least 1
   * @param purges the channel to the other processes
   */
  constructor(maxBytes: number, purges: PurgeChannel) {
    this.#purges = purges;
    purges.onPurge((purge) => {
      if (purge === null) this.#removeAll();
      else this.#remove(purge);
    });
    this.#kept = new LRUCache<string, CachedResponse>({
      maxSize: maxBytes,
      sizeCalculation: measure,
      dispose: ({ place }, key, reason) => {
        if (reason !== 'set') this.#index.removeKey(place, key);
      },
    });
  }

  /** The bytes of all entries. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /** Returns a fresh or stale response; `null` for none. */
  find(key: string, now: number): CachedResponse | null {
    const cached = this.#kept.get(key);
    if (cached === undefined) return null;
    if (now < cached.staleUntil) return cached;
    this.#kept.delete(key);
    return null;
  }

  /** Returns the call that currently fetches the response; `null` for none. */
  findFill(key: string): CacheFill | null {
    return this.#fills.get(key) ?? null;
  }

  /** Begins the only call for a key; `end` must follow. */
  begin(key: string, place: EntryPlace): CacheFill {
    let settle: CacheFill['settle'] = () => {};
    const response = new Promise<CachedResponse | null>((resolve) => {
      settle = resolve;
    });
    const fill: CacheFill = { key, place, isPurged: false, kept: response, settle };
    this.#fills.set(key, fill);
    this.#index.addFill(place, fill);
    return fill;
  }

  /**
   * @param cached `null` if the response may not be cached
   * @param isReplaced whether the earlier entry is outdated
   * @returns whether the response is cached
   */
  end(fill: CacheFill, cached: CachedResponse | null, isReplaced: boolean): boolean {
    const { key, place } = fill;
    if (this.#fills.get(key) === fill) this.#fills.delete(key);
    this.#index.removeFill(place, fill);
    const isGiven = cached !== null && !fill.isPurged;
    if (isGiven) this.#keep(key, cached);
    else if (isReplaced && !fill.isPurged) this.#kept.delete(key);
    fill.settle(isGiven ? cached : null);
    return isGiven && this.#kept.has(key);
  }

  /** Rejects a response that is larger than the whole cache. */
  #keep(key: string, cached: CachedResponse): void {
    this.#kept.set(key, cached);
    if (this.#kept.has(key)) this.#index.addKey(cached.place, key);
    else this.#index.removeKey(cached.place, key);
  }

  /**
   * Removes entries, and discards responses of calls that have begun: here at once, elsewhere
   * within a second.
   */
  purge(purge: Purge): void {
    this.#remove(purge);
    this.#purges.announce(purge);
  }

  #removeAll(): void {
    this.#kept.clear();
    for (const fill of this.#fills.values()) fill.isPurged = true;
    this.#fills.clear();
  }

  #remove(purge: Purge): void {
    const { keys, fills } = this.#index.take(purge);
    for (const key of keys) this.#kept.delete(key);
    for (const fill of fills) {
      fill.isPurged = true;
      if (this.#fills.get(fill.key) === fill) this.#fills.delete(fill.key);
    }
  }
}

function measure({ outcome: { length, headers } }: CachedResponse, key: string): number {
  let bytes = ENTRY_OVERHEAD_BYTES + key.length + length;
  for (const [name, value] of Object.entries(headers)) bytes += name.length + value.length;
  return bytes;
}

/** `null` on a host without a cache. */
export const RESPONSE_CACHE = createToken<ResponseCache | null>('response-cache');

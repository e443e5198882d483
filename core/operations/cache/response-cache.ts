import { LRUCache } from 'lru-cache';
import { createToken } from '../../injection.js';
import type { EndpointBase } from '../../provider/endpoint-base.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { EntryIndex, type EntryPlace, type Purge } from './entry-index.js';
import type { PurgeChannel } from './purge-channel.js';

/** What an entry occupies beside its bytes: objects, index and key. Measured: 700 bytes. */
const ENTRY_OVERHEAD_BYTES = 1024;

/** A response of a provider that is given to later requests. */
export interface KeptResponse {
  readonly place: EntryPlace;
  /** A whole 200. */
  readonly outcome: CheckedOutcome;
  /** Of the endpoint that responded. */
  readonly base: EndpointBase | null;
  /** How old it was when it came. Seconds. */
  readonly ageAtStart: number;
  /** Milliseconds since 1970, as the two that follow. */
  readonly storedAt: number;
  readonly freshUntil: number;
  /** Until then it may be given while a new one is fetched. */
  readonly staleUntil: number;
}

/** A call of the provider whose response may be kept. */
export interface Fill {
  readonly key: string;
  readonly place: EntryPlace;
  /** Whether it was purged meanwhile, so that its response is older than what was purged. */
  isPurged: boolean;
  /** What it has kept; `null` for nothing. Never rejects. */
  readonly kept: Promise<KeptResponse | null>;
  /** Ends the fill. */
  readonly settle: (kept: KeptResponse | null) => void;
}

/** The responses that one process keeps, least recently used out first. */
export class ResponseCache {
  readonly #kept: LRUCache<string, KeptResponse>;
  readonly #fills = new Map<string, Fill>();
  readonly #index = new EntryIndex<Fill>();
  readonly #purges: PurgeChannel;

  /**
   * @param maxBytes of all entries together; at least 1
   * @param purges of the other processes
   */
  constructor(maxBytes: number, purges: PurgeChannel) {
    this.#purges = purges;
    purges.onPurge((purge) => {
      if (purge === null) this.#removeAll();
      else this.#remove(purge);
    });
    this.#kept = new LRUCache<string, KeptResponse>({
      maxSize: maxBytes,
      sizeCalculation: measure,
      dispose: ({ place }, key, reason) => {
        if (reason !== 'set') this.#index.removeKey(place, key);
      },
    });
  }

  /** Bytes of all entries. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /** Fresh or stale; `null` for none. */
  find(key: string, now: number): KeptResponse | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    if (now < kept.staleUntil) return kept;
    this.#kept.delete(key);
    return null;
  }

  /** The call that fetches the response now; `null` for none. */
  findFill(key: string): Fill | null {
    return this.#fills.get(key) ?? null;
  }

  /** Begins the one call for a key; `end` must follow. */
  begin(key: string, place: EntryPlace): Fill {
    let settle: Fill['settle'] = () => {};
    const kept = new Promise<KeptResponse | null>((resolve) => {
      settle = resolve;
    });
    const fill: Fill = { key, place, isPurged: false, kept, settle };
    this.#fills.set(key, fill);
    this.#index.addFill(place, fill);
    return fill;
  }

  /**
   * @param kept `null` where the response may not be kept
   * @param isReplaced whether what was kept before is void
   * @returns whether it is kept
   */
  end(fill: Fill, kept: KeptResponse | null, isReplaced: boolean): boolean {
    const { key, place } = fill;
    if (this.#fills.get(key) === fill) this.#fills.delete(key);
    this.#index.removeFill(place, fill);
    const isGiven = kept !== null && !fill.isPurged;
    if (isGiven) this.#keep(key, kept);
    else if (isReplaced && !fill.isPurged) this.#kept.delete(key);
    fill.settle(isGiven ? kept : null);
    return isGiven && this.#kept.has(key);
  }

  /** Keeps no response that is larger than the whole cache. */
  #keep(key: string, kept: KeptResponse): void {
    this.#kept.set(key, kept);
    if (this.#kept.has(key)) this.#index.addKey(kept.place, key);
    else this.#index.removeKey(kept.place, key);
  }

  /** Removes what is kept, and keeps nothing of calls that have begun: here at once, elsewhere within a second. */
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

function measure({ outcome: { length, headers } }: KeptResponse, key: string): number {
  let bytes = ENTRY_OVERHEAD_BYTES + key.length + length;
  for (const [name, value] of Object.entries(headers)) bytes += name.length + value.length;
  return bytes;
}

/** `null` on a host that keeps no responses. */
export const RESPONSE_CACHE = createToken<ResponseCache | null>('response-cache');

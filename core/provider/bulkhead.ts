import { Semaphore } from '../contract/semaphore.js';
import { isAnonymousShare } from '../lib/actor-name.js';
import { LazyMap } from '../lib/lazy-map.js';

/** The part of the places that one actor, or all callers without credentials, must leave to others. */
const PART = 4;
/** How long the call of another actor counts. Milliseconds. */
const RECENT_MS = 60_000;

interface BulkheadOptions {
  /** Whether a part of the places is kept for callers with credentials. Default false. */
  readonly keepsPlaces?: boolean;
  /** Milliseconds. Default: the clock of the process. */
  readonly now?: () => number;
}

/**
 * The places of `limits.concurrency`. A call occupies one until its response is sent.
 *
 * No caller may keep out the others. Callers without credentials together leave a quarter of the
 * places to callers with credentials. An actor with a quarter of the places gets another one only
 * if a quarter stays free, unless no other actor has called lately. Above a quarter for one actor,
 * a response releases its place when sending begins, because slow clients occupy places too.
 */
export class Bulkhead extends Semaphore {
  /** Whether a part of the places is kept for callers with credentials. */
  keepsPlaces: boolean;
  readonly #places: number;
  readonly #part: number;
  readonly #now: () => number;
  /** Occupied places, by actor. */
  readonly #running = new LazyMap<string, number>();
  #anonymous = 0;
  readonly #calls = new RecentCalls();
  /** Responses with a place that are being sent, by actor. */
  readonly #withPlace = new LazyMap<string, number>();
  #sending = 0;
  /** Requests that are being streamed, by actor. */
  readonly #receiving = new LazyMap<string, number>();

  constructor(
    places: number,
    maxWaiting: number,
    { keepsPlaces = false, now = () => performance.now() }: BulkheadOptions = {},
  ) {
    super(places, maxWaiting);
    this.keepsPlaces = keepsPlaces;
    this.#places = places;
    this.#part = Math.max(1, Math.floor(places / PART));
    this.#now = now;
  }

  /** Counts a call of the actor, and takes a place. @returns whether there was one for it */
  enter(actor: string): boolean {
    this.#calls.add(actor, this.#now());
    return this.tryAcquire(actor);
  }

  protected override mayStart(actor: string): boolean {
    const free = this.#places - this.running;
    const leavesPart = free > this.#part;
    if (this.keepsPlaces && isAnonymousShare(actor) && !this.#mayStartAnonymous()) return false;
    if (leavesPart || (this.#running.get(actor) ?? 0) < this.#part) return true;
    return !this.#calls.hasOther(actor, this.#now() - RECENT_MS);
  }

  /** A single place is for any caller. */
  #mayStartAnonymous(): boolean {
    return this.#anonymous < Math.max(1, this.#places - this.#part);
  }

  protected override yields(waiting: string, actor: string): boolean {
    return this.keepsPlaces && isAnonymousShare(waiting) && !isAnonymousShare(actor);
  }

  protected override onStart(actor: string): void {
    add(this.#running, actor, 1);
    if (isAnonymousShare(actor)) this.#anonymous += 1;
  }

  override release(actor = ''): void {
    add(this.#running, actor, -1);
    if (isAnonymousShare(actor)) this.#anonymous -= 1;
    super.release();
  }

  /** @returns whether the actor may stream another request: slow senders occupy places too */
  beginReceiving(actor: string): boolean {
    if ((this.#receiving.get(actor) ?? 0) >= this.#part) return false;
    add(this.#receiving, actor, 1);
    return true;
  }

  endReceiving(actor: string): void {
    add(this.#receiving, actor, -1);
  }

  /** Responses that are being sent, with or without a place. */
  get sending(): number {
    return this.#sending;
  }

  /** @returns whether the response keeps its place */
  beginSending(actor: string): boolean {
    this.#sending += 1;
    if ((this.#withPlace.get(actor) ?? 0) >= this.#part) {
      this.release(actor);
      return false;
    }
    add(this.#withPlace, actor, 1);
    return true;
  }

  /** @param hasPlace the result of `beginSending` */
  endSending(actor: string, hasPlace: boolean): void {
    this.#sending -= 1;
    if (!hasPlace) return;
    add(this.#withPlace, actor, -1);
    this.release(actor);
  }
}

/** Changes a count, without entries of 0. */
function add(counts: LazyMap<string, number>, actor: string, change: number): void {
  const count = (counts.get(actor) ?? 0) + change;
  if (count > 0) counts.set(actor, count);
  else counts.delete(actor);
}

/** The last call, and the last one of any other actor. */
class RecentCalls {
  #actor: string | null = null;
  #at = Number.NEGATIVE_INFINITY;
  #otherAt = Number.NEGATIVE_INFINITY;

  add(actor: string, at: number): void {
    if (actor !== this.#actor) {
      this.#otherAt = this.#at;
      this.#actor = actor;
    }
    this.#at = at;
  }

  /** Whether an actor other than this one has called since then. */
  hasOther(actor: string, since: number): boolean {
    return (actor === this.#actor ? this.#otherAt : this.#at) > since;
  }
}

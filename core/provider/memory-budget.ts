import { createOverload, type RejectedCall } from './rejected-call.js';

interface BudgetLimits {
  /** The budget of all requests of the host. Bytes. */
  readonly memoryBudget: number;
  /** The budget of the requests of one actor; `null`: a quarter of `memoryBudget`. Bytes. */
  readonly actorBudget: number | null;
  /** Processes that share both; `null`: only this one. */
  readonly workers: number | null;
}

/** What the requests of one actor use at the moment. */
export interface ActorUse {
  readonly actor: string;
  /** Requests from their authentication until their response has left. */
  requests: number;
  bytes: number;
}

/** What holds bytes that requests may need: the host gives it up before it rejects a request. */
export interface SpareHolder {
  /** Returns all of its bytes at once. */
  giveUp(): void;
}

/** The part of the memory budget that one actor may use by default. */
const ACTOR_PART = 4;
/** The part of the memory budget that is added for requests without an actor. */
const ANONYMOUS_PART = 16;
/** What it is at least, so that one large body is always possible. Bytes. */
const MIN_ANONYMOUS_BUDGET = 1_048_576;
/** The reserve for probes and metrics, which must work beyond the budget. Bytes. */
const RESERVE = 1_048_576;

/** How a rejection names the budget that was exceeded. */
const LIMIT_NAMES = { all: 'memory-budget', share: 'actor-budget' };
const ANONYMOUS_LIMIT_NAMES = { all: 'anonymous-budget', share: 'address-budget' };

/**
 * Counts the bytes of bodies that one process holds: request bodies, and responses until they have left. Every
 * byte is counted by a `HeldMemory`, which returns it when its request is over.
 */
export class MemoryBudget {
  /**
   * Counts the requests to surfaces without an actor, by the network of their client: they must not use up what
   * callers with credentials need.
   */
  readonly anonymous: MemoryBudget | null;
  /** Bytes of all requests. */
  readonly maxBytes: number;
  /** Rejected requests by the budget that was exceeded. */
  readonly rejected = { memory: 0, actor: 0 };
  readonly #maxActorBytes: number;
  readonly #limitNames: typeof LIMIT_NAMES;
  /** Actors that have a request at the moment. */
  readonly #actors = new Map<string, ActorUse>();
  /** The oldest first. */
  readonly #spares = new Set<SpareHolder>();
  #bytes = 0;

  constructor({ memoryBudget, actorBudget, workers }: BudgetLimits, isAnonymous = false) {
    const share = workers ?? 1;
    const anonymousBudget = Math.max(memoryBudget / ANONYMOUS_PART, MIN_ANONYMOUS_BUDGET * share);
    const anonymousLimits = { memoryBudget: anonymousBudget, actorBudget: null, workers };
    this.#limitNames = isAnonymous ? ANONYMOUS_LIMIT_NAMES : LIMIT_NAMES;
    this.anonymous = isAnonymous ? null : new MemoryBudget(anonymousLimits, true);
    this.maxBytes = Math.floor(memoryBudget / share);
    this.#maxActorBytes = Math.floor((actorBudget ?? memoryBudget / ACTOR_PART) / share);
  }

  /** Held at the moment. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a request of an actor; `leave` must follow once. */
  enter(actor: string): ActorUse {
    let use = this.#actors.get(actor);
    if (use === undefined) {
      use = { actor, requests: 0, bytes: 0 };
      this.#actors.set(actor, use);
    }
    use.requests += 1;
    return use;
  }

  leave(use: ActorUse): void {
    use.requests -= 1;
    if (use.requests === 0) this.#actors.delete(use.actor);
  }

  addSpare(spare: SpareHolder): void {
    this.#spares.add(spare);
  }

  removeSpare(spare: SpareHolder): void {
    this.#spares.delete(spare);
  }

  /** Counts bytes of a spare holder unless the budget would be exceeded. @returns as `tryAdd` */
  tryAddSpare(bytes: number): RejectedCall | null {
    if (this.#bytes + bytes > this.maxBytes) return this.#createRejection();
    this.#bytes += bytes;
    return null;
  }

  /**
   * Counts bytes unless a budget would be exceeded. An actor without another request is limited by the budget of
   * the host only, so that one large call is always possible.
   * @param isReserved whether they may use the reserve
   * @returns why the bytes are not counted
   */
  tryAdd(bytes: number, use: ActorUse | null, isReserved: boolean): RejectedCall | null {
    const maxBytes = isReserved ? this.maxBytes + RESERVE : this.maxBytes;
    for (const spare of this.#spares) {
      if (this.#bytes + bytes <= maxBytes) break;
      spare.giveUp();
    }
    if (this.#bytes + bytes > maxBytes) {
      this.rejected.memory += 1;
      return this.#createRejection();
    }
    if (use !== null && use.requests > 1 && use.bytes + bytes > this.#maxActorBytes) {
      this.rejected.actor += 1;
      return createOverload(
        this.#limitNames.share,
        'the bodies held for the caller exceed its budget',
      );
    }
    this.add(bytes, use);
    return null;
  }

  /** Counts bytes that are held in any case; a negative number returns them. */
  add(bytes: number, use: ActorUse | null): void {
    this.#bytes += bytes;
    if (use !== null) use.bytes += bytes;
  }

  #createRejection(): RejectedCall {
    return createOverload(this.#limitNames.all, 'the bodies that the host holds exceed its budget');
  }
}

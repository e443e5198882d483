import { createOverload, type RejectedCall } from './rejected-call.js';

interface BudgetLimits {
  /** The budget of all requests of the host. Bytes. */
  readonly memoryBudget: number;
  /** The budget of the requests of one actor; `null` for a quarter of `memoryBudget`. Bytes. */
  readonly actorBudget: number | null;
  /** The processes that share both; `null` for only this one. */
  readonly workers: number | null;
}

/** The current use of one actor's requests. */
export interface ActorMemory {
  readonly actor: string;
  /** Requests from their authentication until their response is sent. */
  requests: number;
  bytes: number;
}

/** Memory that the host releases before it rejects a request. */
export interface ReleasableMemory {
  /** Releases all of its bytes at once. */
  giveUp(): void;
}

const ACTOR_PART = 4;
/** The share of the memory budget that is added for callers without credentials. */
const ANONYMOUS_PART = 4;
/** The minimum of that share, so that one large body is always possible. Bytes. */
const MIN_ANONYMOUS_BUDGET = 1_048_576;
/**
 * The reserve for what operators need, which must work beyond a budget: of callers with credentials
 * for metrics and probes, of those without for sign-ins. Forwarded calls never use it. Bytes.
 */
const RESERVE = 1_048_576;

const LIMIT_NAMES = { all: 'memory-budget', share: 'actor-budget' };
const ANONYMOUS_LIMIT_NAMES = { all: 'anonymous-budget', share: 'address-budget' };

/**
 * Counts the bytes of bodies that one process holds: request bodies, and responses until they are
 * sent. A `HeldMemory` counts every byte, and releases it when its request is over.
 */
export class MemoryBudget {
  /**
   * Counts the requests of callers without credentials, by the network of their client. They must
   * not use the memory of callers with credentials.
   */
  readonly anonymous: MemoryBudget | null;
  /** The maximum of all requests. Bytes. */
  readonly maxBytes: number;
  /** Rejected requests by exceeded budget. */
  readonly rejected = { memory: 0, actor: 0 };
  readonly #maxActorBytes: number;
  readonly #limitNames: typeof LIMIT_NAMES;
  /** Actors with current requests. */
  readonly #actors = new Map<string, ActorMemory>();
  /** Oldest first. */
  readonly #spares = new Set<ReleasableMemory>();
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

  /** The currently held bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a request of an actor; `leave` must follow once. */
  enter(actor: string): ActorMemory {
    let use = this.#actors.get(actor);
    if (use === undefined) {
      use = { actor, requests: 0, bytes: 0 };
      this.#actors.set(actor, use);
    }
    use.requests += 1;
    return use;
  }

  leave(use: ActorMemory): void {
    use.requests -= 1;
    if (use.requests === 0) this.#actors.delete(use.actor);
  }

  addSpare(spare: ReleasableMemory): void {
    this.#spares.add(spare);
  }

  removeSpare(spare: ReleasableMemory): void {
    this.#spares.delete(spare);
  }

  /** Counts bytes of a spare holder unless the budget would be exceeded. @returns like `tryAdd` */
  tryAddSpare(bytes: number): RejectedCall | null {
    if (this.#bytes + bytes > this.maxBytes) return this.#createRejection();
    this.#bytes += bytes;
    return null;
  }

  /**
   * Counts bytes unless a budget would be exceeded. An actor without another request is limited
   * only by the budget of the host, so that one large call is always possible.
   * @param isReserved whether they may use the reserve, also beyond the share of the actor
   * @returns the rejection if the bytes are not counted
   */
  tryAdd(bytes: number, use: ActorMemory | null, isReserved: boolean): RejectedCall | null {
    const reserve = isReserved ? RESERVE : 0;
    const maxBytes = this.maxBytes + reserve;
    for (const spare of this.#spares) {
      if (this.#bytes + bytes <= maxBytes) break;
      spare.giveUp();
    }
    if (this.#bytes + bytes > maxBytes) {
      this.rejected.memory += 1;
      return this.#createRejection();
    }
    const maxActorBytes = this.#maxActorBytes + reserve;
    if (use !== null && use.requests > 1 && use.bytes + bytes > maxActorBytes) {
      this.rejected.actor += 1;
      return createOverload(
        this.#limitNames.share,
        'the bodies held for the caller exceed its budget',
      );
    }
    this.#bytes += bytes;
    if (use !== null) use.bytes += bytes;
    return null;
  }

  /** Releases counted bytes. */
  remove(bytes: number, use: ActorMemory | null): void {
    this.#bytes -= bytes;
    if (use !== null) use.bytes -= bytes;
  }

  #createRejection(): RejectedCall {
    return createOverload(this.#limitNames.all, 'the bodies that the host holds exceed its budget');
  }
}

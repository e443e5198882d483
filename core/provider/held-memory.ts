import type { Bulkhead } from './bulkhead.js';
import type { ActorMemory, MemoryBudget, ReleasableMemory } from './memory-budget.js';
import type { RejectedCall } from './rejected-call.js';

/**
 * The resources of one request until its response is sent: bytes of bodies, and a place in
 * `limits.concurrency`. `close` releases them; later bytes are not counted.
 */
export class HeldMemory {
  readonly #whole: MemoryBudget;
  #budget: MemoryBudget;
  #actor: ActorMemory | null = null;
  #bytes = 0;
  #places: Bulkhead | null = null;
  #isSending = false;
  #hasPlace = false;
  #isClosed = false;
  #onClose: (() => void) | null = null;
  readonly #spare: ReleasableMemory | null;

  /** @param spare absent for the memory of a request */
  constructor(budget: MemoryBudget, spare: ReleasableMemory | null = null) {
    this.#whole = budget;
    this.#budget = budget;
    this.#spare = spare;
    if (spare !== null) budget.addSpare(spare);
  }

  /**
   * Opens memory of the same budget that is released before any request is rejected; it has no
   * actor and no place.
   */
  openSpare(spare: ReleasableMemory): HeldMemory {
    return new HeldMemory(this.#whole, spare);
  }

  /** @param listener called once the response is sent; at once if it already is */
  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#onClose = listener;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns a part for work that continues after the request: it counts for the same actor until it
   * is closed.
   */
  fork(): HeldMemory {
    const fork = new HeldMemory(this.#budget);
    if (this.#actor !== null) fork.identify(this.#actor.actor);
    return fork;
  }

  /** Counts the request for its actor; the first one stays. Call it before the first body. */
  identify(actor: string): void {
    if (!this.#isClosed && this.#actor === null) this.#actor = this.#budget.enter(actor);
  }

  /**
   * Counts the request for the network of its client, in the budget of requests without an actor. Call it before
   * the first body.
   */
  identifyAnonymous(network: string): void {
    const { anonymous } = this.#budget;
    if (anonymous === null || this.#actor !== null) return;
    this.#budget = anonymous;
    this.identify(network);
  }

  /**
   * @param isReserved whether the bytes may use the reserve of the budget
   * @returns the rejection if the bytes exceed a budget; they are then not counted
   */
  hold(bytes: number, isReserved = false): RejectedCall | null {
    if (this.#isClosed) return null;
    const rejection =
      this.#spare === null
        ? this.#budget.tryAdd(bytes, this.#actor, isReserved)
        : this.#budget.tryAddSpare(bytes);
    if (rejection === null) this.#bytes += bytes;
    return rejection;
  }

  /** Releases some of the bytes. */
  drop(bytes: number): void {
    if (!this.#isClosed) this.#add(-bytes);
  }

  /** Keeps only the response, which exists already, so that it is counted in any case. */
  keepOnly(bytes: number): void {
    if (!this.#isClosed) this.#add(bytes - this.#bytes);
  }

  /** Keeps the place of a call that has ended until its response is sent. */
  keepPlace(places: Bulkhead): void {
    if (this.#isClosed || this.#places !== null || this.#spare !== null) places.release();
    else {
      this.#places = places;
      this.#hasPlace = true;
    }
  }

  /** Records that the client has not read the complete response at once. */
  beginSending(): void {
    if (this.#isClosed || this.#places === null || this.#actor === null) return;
    this.#isSending = true;
    this.#hasPlace = this.#places.beginSending(this.#actor.actor);
  }

  /** Called when the response is sent, or the client has closed the connection. */
  close(): void {
    if (this.#isClosed) return;
    this.#add(-this.#bytes);
    this.#isClosed = true;
    if (this.#spare !== null) this.#budget.removeSpare(this.#spare);
    this.#leave();
    this.#onClose?.();
    this.#onClose = null;
  }

  #leave(): void {
    if (this.#actor === null) return;
    if (this.#isSending) this.#places?.endSending(this.#actor.actor, this.#hasPlace);
    else this.#places?.release();
    this.#budget.leave(this.#actor);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.add(bytes, this.#actor);
  }
}

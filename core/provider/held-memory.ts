import type { Bulkhead } from './bulkhead.js';
import type { ActorMemory, MemoryBudget, ReleasableMemory } from './memory-budget.js';
import type { RejectedCall } from './rejected-call.js';

/** Memory for a body that is passed on while it arrives is reserved in steps. Bytes. */
export const STEP_BYTES = 65_536;

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
  /** The actor of the place. */
  #placeOf = '';
  #isSending = false;
  #hasPlace = false;
  #isClosed = false;
  #usesReserve = false;
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
   * Counts the request for the network of its client, in the budget of callers without credentials.
   * A request that already has an actor, or bytes, stays as it is.
   * @param isSignIn whether its bodies may use the reserve of that budget
   */
  identifyAnonymous(network: string, isSignIn = false): void {
    const { anonymous } = this.#budget;
    if (anonymous === null || this.#actor !== null || this.#bytes > 0) return;
    this.#budget = anonymous;
    this.#usesReserve = isSignIn;
    this.identify(network);
  }

  /**
   * Reserves bytes before they are used.
   * @param isReserved whether they may use the reserve of the budget
   * @returns the rejection if the bytes exceed a budget; they are then not counted
   */
  reserve(bytes: number, isReserved = this.#usesReserve): RejectedCall | null {
    if (this.#isClosed) return null;
    const rejection =
      this.#spare === null
        ? this.#budget.tryAdd(bytes, this.#actor, isReserved)
        : this.#budget.tryAddSpare(bytes);
    if (rejection === null) this.#bytes += bytes;
    return rejection;
  }

  release(bytes: number): void {
    if (this.#isClosed) return;
    this.#bytes -= bytes;
    this.#budget.remove(bytes, this.#actor);
  }

  /**
   * Keeps this many bytes, and reserves those that are missing, without the reserve of the budget.
   * @returns the rejection if a budget would be exceeded; the bytes then stay as they are
   */
  keepOnly(bytes: number): RejectedCall | null {
    if (bytes > this.#bytes) return this.reserve(bytes - this.#bytes, false);
    this.release(this.#bytes - bytes);
    return null;
  }

  /** @returns the rejection of a body that is passed on while it arrives; `null` if a step is left */
  checkRoom(): RejectedCall | null {
    const rejection = this.reserve(STEP_BYTES);
    if (rejection === null) this.release(STEP_BYTES);
    return rejection;
  }

  /** Keeps the place of an actor's call that has ended until its response is sent. */
  keepPlace(places: Bulkhead, actor: string): void {
    if (this.#isClosed || this.#places !== null || this.#spare !== null) places.release(actor);
    else {
      this.#places = places;
      this.#placeOf = actor;
      this.#hasPlace = true;
    }
  }

  /**
   * Records that the client has not read the complete response at once. Counts once: a stream that
   * fails before its head is followed by a Problem.
   */
  beginSending(): void {
    if (this.#isClosed || this.#isSending || this.#places === null) return;
    this.#isSending = true;
    this.#hasPlace = this.#places.beginSending(this.#placeOf);
  }

  /** Called when the response is sent, or the client has closed the connection. */
  close(): void {
    if (this.#isClosed) return;
    this.release(this.#bytes);
    this.#isClosed = true;
    if (this.#spare !== null) this.#budget.removeSpare(this.#spare);
    this.#leave();
    this.#onClose?.();
    this.#onClose = null;
  }

  #leave(): void {
    if (this.#isSending) this.#places?.endSending(this.#placeOf, this.#hasPlace);
    else this.#places?.release(this.#placeOf);
    if (this.#actor !== null) this.#budget.leave(this.#actor);
  }
}

import { Semaphore } from '../contract/semaphore.js';

/** The share of the places that responses to one actor may occupy during sending. */
const ACTOR_PART = 4;

/**
 * The places of `limits.concurrency`. A call occupies one until its response is sent. Slow clients
 * must not occupy all of them: above a quarter for one actor, a response releases its place when
 * sending begins.
 */
export class Bulkhead extends Semaphore {
  readonly #maxSending: number;
  /** Responses with a place that are being sent, by actor. */
  readonly #byActor = new Map<string, number>();
  #sending = 0;
  /** Requests that are being streamed, by actor. */
  readonly #receiving = new Map<string, number>();

  constructor(places: number, maxWaiting: number) {
    super(places, maxWaiting);
    this.#maxSending = Math.max(1, Math.floor(places / ACTOR_PART));
  }

  /** @returns whether the actor may stream another request: slow senders occupy places too */
  beginReceiving(actor: string): boolean {
    const count = this.#receiving.get(actor) ?? 0;
    if (count >= this.#maxSending) return false;
    this.#receiving.set(actor, count + 1);
    return true;
  }

  endReceiving(actor: string): void {
    const count = this.#receiving.get(actor) ?? 0;
    if (count > 1) this.#receiving.set(actor, count - 1);
    else this.#receiving.delete(actor);
  }

  /** Responses that are being sent, with or without a place. */
  get sending(): number {
    return this.#sending;
  }

  /** @returns whether the response keeps its place */
  beginSending(actor: string): boolean {
    this.#sending += 1;
    const count = this.#byActor.get(actor) ?? 0;
    if (count >= this.#maxSending) {
      this.release();
      return false;
    }
    this.#byActor.set(actor, count + 1);
    return true;
  }

  /** @param hasPlace the result of `beginSending` */
  endSending(actor: string, hasPlace: boolean): void {
    this.#sending -= 1;
    if (!hasPlace) return;
    const count = this.#byActor.get(actor) ?? 0;
    if (count > 1) this.#byActor.set(actor, count - 1);
    else this.#byActor.delete(actor);
    this.release();
  }
}

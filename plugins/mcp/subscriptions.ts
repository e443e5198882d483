import { type Actor, SurfaceError } from '../../core/contract/index.js';

/** The maximum number of open subscriptions, of all actors. */
export const MAX_SUBSCRIPTIONS = 1024;
const MAX_PER_ACTOR = 256;

/** Limits the open subscriptions of each actor, so that one cannot take those of all others. */
export class Subscriptions {
  /** The number of open subscriptions by kind and id of the actor. */
  readonly #open = new Map<string, number>();

  /** @throws SurfaceError 429 if the actor has too many. */
  async open(actor: Actor, subscribe: () => Promise<Response>): Promise<Response> {
    const name = `${actor.kind}:${actor.id}`;
    const count = this.#open.get(name) ?? 0;
    if (count >= MAX_PER_ACTOR) {
      throw new SurfaceError('rate_limited', 'the actor has too many open subscriptions', {
        nextActions: ['close other subscriptions'],
        headers: { 'retry-after': '10' },
      });
    }
    this.#open.set(name, count + 1);
    const release = () => this.#release(name);
    try {
      return watchEnd(await subscribe(), release);
    } catch (error) {
      release();
      throw error;
    }
  }

  #release(name: string): void {
    const count = this.#open.get(name) ?? 0;
    if (count > 1) this.#open.set(name, count - 1);
    else this.#open.delete(name);
  }
}

/** Calls `onEnd` once the body has ended or was canceled. */
function watchEnd(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const passed = response.body.pipeTo(writable);
  passed.catch(() => {}).finally(onEnd);
  return new Response(readable, response);
}

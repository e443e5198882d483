import type { Actor } from '../../contract/index.js';
import type { Client } from '../../operations/request.js';

interface KnownActor {
  readonly original: Actor;
  /** The client of the request that brought it; `null` where it is not known. */
  readonly client: Client | null;
}

/**
 * The actors that a surface has got from the host. A surface gets copies: what it does to one changes neither
 * the actor of another request nor what the copy may do.
 */
export class HostActors {
  readonly #originals = new WeakMap<Actor, KnownActor>();

  add(original: Actor, client: Client | null = null): Actor {
    const { kind, id, scopes, expiresAt } = original;
    const copy = Object.freeze({
      kind,
      id,
      scopes: new Set(scopes),
      ...(expiresAt !== undefined && { expiresAt }),
    });
    this.#originals.set(copy, { original, client });
    return copy;
  }

  /** @throws TypeError for an object that the host did not make. */
  find(actor: Actor): KnownActor {
    const known = this.#originals.get(actor);
    if (known !== undefined) return known;
    throw new TypeError('the actor was not made by the host: pass on one of call or authenticate');
  }
}

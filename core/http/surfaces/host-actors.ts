import type { Actor } from '../../contract/index.js';
import type { Client } from '../../operations/request.js';

interface KnownActor {
  readonly original: Actor;
  /** The client of the request with this actor; `null` if it is unknown. */
  readonly client: Client | null;
}

/**
 * The actors that the host has passed to a surface. A surface gets copies: changes to one affect
 * neither the actor of another request nor the rights of the copy.
 */
export class HostActors {
  readonly #originals = new WeakMap<Actor, KnownActor>();

  add(original: Actor, client: Client | null): Actor {
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

  /** @throws TypeError for an object that the host did not create. */
  find(actor: Actor): KnownActor {
    const original = this.#originals.get(actor);
    if (original !== undefined) return original;
    throw new TypeError('the actor was not made by the host: pass on one of call or authenticate');
  }
}

import type { Actor } from '../../contract/index.js';

/**
 * The actors that a surface has got from the host. A surface gets copies: what it does to one changes neither
 * the actor of another request nor what the copy may do.
 */
export class HostActors {
  readonly #originals = new WeakMap<Actor, Actor>();

  add(original: Actor): Actor {
    const { kind, id, scopes, expiresAt } = original;
    const copy = Object.freeze({
      kind,
      id,
      scopes: new Set(scopes),
      ...(expiresAt !== undefined && { expiresAt }),
    });
    this.#originals.set(copy, original);
    return copy;
  }

  /** @throws TypeError for an object that the host did not make. */
  find(actor: Actor): Actor {
    const original = this.#originals.get(actor);
    if (original !== undefined) return original;
    throw new TypeError('the actor was not made by the host: pass on one of call or authenticate');
  }
}

import type { Actor } from '../../contract/index.js';
import type { Mask } from '../../lib/secrets/mask-secrets.js';
import type { Client, CurrentActor } from '../../operations/request.js';

export interface KnownActor {
  readonly original: Actor;
  /** Authenticates its credentials again. @throws HostError 503. */
  readonly reauthenticate: () => Promise<CurrentActor>;
  /** Removes its credentials from a text. */
  readonly mask: Mask;
  /** The client of the request with this actor; `null` if it is unknown. */
  readonly client: Client | null;
}

/**
 * The actors that the host has passed to a surface. A surface gets copies: changes to one affect
 * neither the actor of another request nor the rights of the copy.
 */
export class HostActors {
  readonly #originals = new WeakMap<Actor, KnownActor>();

  add(known: KnownActor): Actor {
    const { original } = known;
    const { kind, id, scopes, expiresAt } = original;
    const copy = Object.freeze({
      kind,
      id,
      scopes: new Set(scopes),
      ...(expiresAt !== undefined && { expiresAt }),
    });
    this.#originals.set(copy, known);
    return copy;
  }

  /** @throws TypeError for an object that the host did not create. */
  find(actor: Actor): KnownActor {
    const known = this.#originals.get(actor);
    if (known !== undefined) return known;
    throw new TypeError('the actor was not made by the host: pass on one of call or authenticate');
  }
}

import type { Actor } from '../contract/index.js';

const names = new WeakMap<Actor, string>();

/**
 * `service:crm-sync`, for logs, records, limits and providers. Cached per actor, so that ten thousand call
 * records share one string.
 */
export function nameActor(actor: Actor): string {
  let name = names.get(actor);
  if (name === undefined) {
    name = `${actor.kind}:${actor.id}`;
    names.set(actor, name);
  }
  return name;
}

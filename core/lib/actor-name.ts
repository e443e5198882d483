import type { Actor } from '../contract/index.js';

const names = new WeakMap<Actor, string>();

/**
 * `service:crm-sync`, as logs, records, limits and providers know an actor. Kept with it: a record that
 * holds a string of its own for each call holds ten thousand of them.
 */
export function nameActor(actor: Actor): string {
  let name = names.get(actor);
  if (name === undefined) {
    name = `${actor.kind}:${actor.id}`;
    names.set(actor, name);
  }
  return name;
}

import type { Actor } from '../contract/index.js';
import { nameNetwork } from './client-network.js';

const NO_SCOPES: ReadonlySet<string> = new Set();

/** The id of a caller without credentials, also in `explain`. */
export const ANONYMOUS = 'anonymous';

const names = new WeakMap<Actor, string>();
/** Stored separately from the actor, which adapters see. */
const networks = new WeakMap<Actor, string>();

/** Creates a caller of a public route without credentials. */
export function createAnonymous(address: string): Actor {
  const actor: Actor = { kind: ANONYMOUS, id: ANONYMOUS, scopes: NO_SCOPES };
  networks.set(actor, nameNetwork(address));
  return actor;
}

/** Names the share of a limit that the actor uses: anonymous callers share one by address. */
export function nameShare(actor: Actor): string {
  const network = networks.get(actor);
  return network === undefined ? nameActor(actor) : `${nameActor(actor)} ${network}`;
}

/** Whether a share is that of a caller without credentials. */
export function isAnonymousShare(share: string): boolean {
  return share.startsWith(ANONYMOUS_SHARE);
}

const ANONYMOUS_SHARE = `${ANONYMOUS}:${ANONYMOUS} `;

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

import type { Actor } from '../contract/index.js';
import { nameNetwork } from './client-network.js';

/** The id of an actor: text of 1 to 255 code points, without controls and without space at its ends. */
export const ACTOR_ID = /^(?!\s)[^\p{Cc}\p{Cs}]{1,255}(?<!\s)$/u;

/** Visible ASCII without a comma, at least one character. */
export const SCOPE = /^[\x21-\x2b\x2d-\x7e]+$/;

const NO_SCOPES: ReadonlySet<string> = new Set();

/** The id of a caller without credentials, also in `explain`. */
export const ANONYMOUS = 'anonymous';

const names = new WeakMap<Actor, string>();
const headers = new WeakMap<Actor, string>();
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
 * `service:crm-sync`, for logs, records and limits. Cached per actor, so that ten thousand call
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

/**
 * The name as a header has it: `user:auth0%7C7`. All but letters, digits and `._@-` is
 * percent-encoded, `%` as well, so that two ids never have the same header.
 */
export function formatActorHeader(actor: Actor): string {
  let header = headers.get(actor);
  if (header === undefined) {
    header = `${actor.kind}:${actor.id.replace(/[^A-Za-z0-9._@-]/gu, encodeBytes)}`;
    headers.set(actor, header);
  }
  return header;
}

function encodeBytes(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}

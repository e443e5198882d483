import type { Actor } from '../contract/index.js';

/** The entry of the issuers file that accepted a token. */
interface AcceptedBy {
  /** Its `issuer`, otherwise its `name`. */
  readonly issuer: string;
  /** The expiry of the token. Milliseconds since 1970; `Infinity` if it is unknown. */
  readonly expiresAt: number;
}

const ACCEPTED_BY = new WeakMap<Actor, AcceptedBy>();

/** Called once for each token that is verified: its actor is kept with it. */
export function markAccepted(actor: Actor, acceptedBy: AcceptedBy): void {
  ACCEPTED_BY.set(actor, acceptedBy);
}

/** `undefined` unless an entry of the issuers file accepted the token of the actor. */
export function findAcceptedBy(actor: Actor): AcceptedBy | undefined {
  return ACCEPTED_BY.get(actor);
}

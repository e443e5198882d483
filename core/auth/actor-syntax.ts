import { matching } from '../document/structs.js';

/** Ids of actors (contract 3). */
export const ACTOR_ID = /^[A-Za-z0-9._@-]{1,128}$/;

/** Visible ASCII without a comma, at least one character (contract 3). */
export const SCOPE = /^[\x21-\x2b\x2d-\x7e]+$/;

/** Of a presented token, in characters: more is not looked at. Half of the head that the host admits. */
export const MAX_TOKEN_LENGTH = 8 * 1024;

/** As the files of tokens, issuers and certificates name an actor. */
export const actorId = matching('a name of 1 to 128 letters, digits or ._@-', ACTOR_ID);

export const scope = matching('a word of visible ASCII without a comma', SCOPE);

/** Of a token, or of a certificate. */
export const sha256 = matching('exactly 64 lower-case hex digits', /^[0-9a-f]{64}$/);

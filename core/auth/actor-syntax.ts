/** Ids of actors (contract 3). */
export const ACTOR_ID = /^[A-Za-z0-9._@-]{1,128}$/;

/** Visible ASCII without a comma, at least one character (contract 3). */
export const SCOPE = /^[\x21-\x2b\x2d-\x7e]+$/;

/** Of a presented token, in characters: more is not looked at. Half of the head that the host admits. */
export const MAX_TOKEN_LENGTH = 8 * 1024;

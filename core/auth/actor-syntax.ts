import { matching } from '../document/structs.js';

export const ACTOR_ID = /^[A-Za-z0-9._@-]{1,128}$/;

/** Visible ASCII without a comma, at least one character. */
export const SCOPE = /^[\x21-\x2b\x2d-\x7e]+$/;

/**
 * Longer tokens are rejected before they are parsed. Characters; a request head has at most 16 KiB, and the tokens
 * of people in many groups are long.
 */
export const MAX_TOKEN_LENGTH = 15 * 1024;

/** The name of an actor in the files of tokens, issuers and client certificates. */
export const actorId = matching('a name of 1 to 128 letters, digits or ._@-', ACTOR_ID);

export const scope = matching('a word of visible ASCII without a comma', SCOPE);

/** The digest of a token or a certificate. */
export const sha256 = matching('exactly 64 lower-case hex digits', /^[0-9a-f]{64}$/);

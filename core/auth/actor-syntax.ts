import { matching } from '../contract/described.js';
import { ACTOR_ID, SCOPE } from '../lib/actor-name.js';

/** The id of a token that the host itself issues or lists: a word that needs no quotes anywhere. */
export const TOKEN_ID = /^[A-Za-z0-9._@-]{1,128}$/;

export const ACTOR_ID_RULE =
  '1 to 255 characters without control characters and without space at the ends';

/**
 * Longer tokens are rejected before they are parsed. Characters; a request head has at most 16 KiB, and the tokens
 * of people in many groups are long.
 */
export const MAX_TOKEN_LENGTH = 15 * 1024;

/** The id of an entry of the tokens file, and the name of an issuer of opaque tokens. */
export const tokenId = matching('a name of 1 to 128 letters, digits or ._@-', TOKEN_ID);

/** The id of an actor that a client certificate stands for. */
export const actorId = matching(`text of ${ACTOR_ID_RULE}`, ACTOR_ID);

export const scope = matching('a word of visible ASCII without a comma', SCOPE);

/** The digest of a token or a certificate. */
export const sha256 = matching('exactly 64 lower-case hex digits', /^[0-9a-f]{64}$/);

import { matching } from '../document/structs.js';
import { ACTOR_ID, SCOPE } from './actor-syntax.js';

/** As the files of tokens, issuers and certificates name an actor. */
export const actorId = matching('a name of 1 to 128 letters, digits or ._@-', ACTOR_ID);

export const scope = matching('a word of visible ASCII without a comma', SCOPE);

/** Of a token, or of a certificate. */
export const sha256 = matching('exactly 64 lower-case hex digits', /^[0-9a-f]{64}$/);

/** The caller that a `modgate-identity` token names, and the module that receives it. */
export interface IdentifiedCaller {
  readonly module: string;
  /** `service:billing`. */
  readonly actor: string;
  /** Separated by spaces. */
  readonly scope: string;
  readonly requestId: string;
}

/** The longest header value that many servers accept. Bytes. */
export const MAX_IDENTITY_BYTES = 4096;

const ISSUER = 'modgate';
/** Lifetime of a token, from the start of the attempt. */
const LIFETIME_SECONDS = 30;
/** The header of a token with its key id, the two dots, and the signature (Ed25519). */
const FRAME_LENGTH = 106 + 2 + 86;
const CALL_ID_LENGTH = 36;
const BYTES_PER_GROUP = 3;
const CHARACTERS_PER_GROUP = 4;

export function formatClaims(
  { module, actor, scope, requestId }: IdentifiedCaller,
  callId: string,
  issuedAt: number,
): string {
  return JSON.stringify({
    iss: ISSUER,
    aud: module,
    sub: actor,
    scope,
    request_id: requestId,
    jti: callId,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
  });
}

/** The length of the token before it is signed. */
export function measureIdentity(caller: IdentifiedCaller): number {
  const now = Math.floor(Date.now() / 1000);
  const claims = Buffer.byteLength(formatClaims(caller, '-'.repeat(CALL_ID_LENGTH), now));
  return FRAME_LENGTH + Math.ceil((claims * CHARACTERS_PER_GROUP) / BYTES_PER_GROUP);
}

import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Actor, CredentialReason } from '../contract/index.js';
import { decodeUtf8 } from '../lib/decode-utf8.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import type { IssuerKeys } from './issuer-keys.js';
import { IssuerError } from './issuer-request.js';
import { ISSUER_DEFAULTS, type IssuerConfig } from './issuers-file.js';
import { type Claims, createActor, UnmappedClaims } from './map-claims.js';
import { parsePlainObject } from './strict-json.js';

/** Claims of a token, not trusted before the signature is verified. */
interface JwtParts {
  readonly algorithm: string;
  readonly issuer: string;
}

/** A JWS in compact serialization (RFC 7515, section 7.1); a JWE has five parts. */
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;

/**
 * Headers that choose the key or the format (RFC 7515, 7516, 7797): the token must not choose either. `cty`
 * announces a nested token.
 */
const REJECTED_HEADERS = ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'cty', 'zip', 'enc'] as const;

/**
 * The types of access tokens and plain tokens. Logout tokens and DPoP proofs are signed with the
 * same keys.
 */
const TYPES: ReadonlySet<unknown> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

const MAX_KEY_ID_LENGTH = 256;

/** Reads the parts that select the issuer; returns `null` if no issuer would sign such a token. */
export function readJwtParts(token: string): JwtParts | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  const [, first = '', second = ''] = COMPACT.exec(token) ?? [];
  const header = first === '' ? undefined : decodeObject(first);
  if (header === undefined || !isPlainHeader(header)) return null;
  const payload = decodeObject(second);
  const algorithm = header['alg'];
  const issuer = payload?.['iss'];
  if (typeof algorithm !== 'string' || typeof issuer !== 'string') return null;
  return { algorithm, issuer };
}

function decodeObject(part: string): Claims | undefined {
  const text = decodeUtf8(Buffer.from(part, 'base64url'));
  return text === null ? undefined : parsePlainObject(text);
}

function isPlainHeader(header: Claims): boolean {
  if (REJECTED_HEADERS.some((name) => Object.hasOwn(header, name))) return false;
  const { typ, kid } = header as { typ?: unknown; kid?: unknown };
  if (!TYPES.has(typeof typ === 'string' ? typ.toLowerCase() : typ)) return false;
  return kid === undefined || (typeof kid === 'string' && kid.length <= MAX_KEY_ID_LENGTH);
}

export interface Issuer {
  readonly config: IssuerConfig;
  readonly keys: IssuerKeys;
}

export interface VerifiedToken {
  readonly actor: Actor;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A rejected token; the message gives the reason and nothing from the token. */
export class RejectedToken extends Error {
  override readonly name = 'RejectedToken';
  /** Whether an operator may have to act: the claims do not fit the mapping, or the key is unusable. */
  readonly isSuspicious: boolean;
  readonly reason: CredentialReason;
  /** The id of the key that the token names; `null` if none was found. */
  keyId: string | null = null;

  constructor(
    message: string,
    reason: CredentialReason,
    {
      isSuspicious = false,
      cause,
    }: { readonly isSuspicious?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.reason = reason;
    this.isSuspicious = isSuspicious;
  }
}

/** A token that cannot be verified now: neither accepted nor rejected, since it may be valid. */
export class UnverifiableToken extends Error {
  override readonly name = 'UnverifiableToken';

  constructor(issuer: string, reason: string, options?: ErrorOptions) {
    super(`the issuer '${issuer}' ${reason}`, options);
  }
}

const MS_PER_SECOND = 1000;

/**
 * @throws RejectedToken for an invalid token, key or claim; UnverifiableToken while no key of the issuer is
 * known.
 */
export async function verifyJwt(token: string, { config, keys }: Issuer): Promise<VerifiedToken> {
  let keyId: string | null = null;
  const getKey: JWTVerifyGetKey = async (header, input) => {
    const key = await keys.get(header, input);
    keyId = header.kid ?? null;
    return key;
  };
  try {
    const { payload } = await jwtVerify(token, getKey, {
      issuer: config.issuer,
      audience: config.audience,
      algorithms: [...config.algorithms],
      clockTolerance: config.clock_skew_seconds ?? ISSUER_DEFAULTS.clock_skew_seconds,
      // Also requires `iat`, not in the future.
      maxTokenAge: config.max_age_seconds ?? ISSUER_DEFAULTS.max_age_seconds,
      requiredClaims: ['exp'],
    });
    // The token is bound to a key of the caller (RFC 7800); a bearer token does not prove its
    // possession.
    if (payload['cnf'] !== undefined)
      throw new RejectedToken('the token is bound to a key', 'malformed');
    const { exp = 0 } = payload;
    return { actor: createActor(payload, config.actor), expiresAt: exp * MS_PER_SECOND };
  } catch (error) {
    const rejected = explain(error, config.issuer);
    if (rejected instanceof RejectedToken) rejected.keyId = keyId;
    throw rejected;
  }
}

function explain(error: unknown, issuer: string): RejectedToken | UnverifiableToken {
  if (error instanceof RejectedToken) return error;
  if (error instanceof IssuerError) {
    return new UnverifiableToken(issuer, error.message, { cause: error });
  }
  if (error instanceof UnmappedClaims) {
    return new RejectedToken(error.message, 'malformed', { isSuspicious: true, cause: error });
  }
  if (!(error instanceof errors.JOSEError)) {
    const options = { isSuspicious: true, cause: error };
    return new RejectedToken('the key cannot be used', 'signature', options);
  }
  return new RejectedToken(error.code, findReason(error), { cause: error });
}

const REASON_BY_CLAIM: ReadonlyMap<string, CredentialReason> = new Map([
  ['iss', 'issuer'],
  ['aud', 'audience'],
  ['nbf', 'not_yet_valid'],
  ['iat', 'not_yet_valid'],
]);

function findReason(error: errors.JOSEError): CredentialReason {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    const isPresent = error.reason === 'check_failed';
    return (isPresent ? REASON_BY_CLAIM.get(error.claim) : undefined) ?? 'malformed';
  }
  if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid) return 'malformed';
  return 'signature';
}

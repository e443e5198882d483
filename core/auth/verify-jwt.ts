import { errors } from 'jose';
import type { Actor } from '../contract/index.js';
import { decodeUtf8 } from '../lib/decode-utf8.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import { assertClaims } from './check-claims.js';
import { IssuerError } from './issuer-request.js';
import { ISSUER_DEFAULTS, type IssuerConfig } from './issuers-file.js';
import type { IssuerKeys } from './keys/issuer-keys.js';
import { type Claims, createActor, dropNulls, nameIdClaim } from './map-claims.js';
import { RejectedToken, UnverifiableToken } from './rejected-token.js';
import { parsePlainObject } from './strict-json.js';

/** Parts of a token, not trusted before the signature is verified. */
interface JwtParts {
  /** `null` for a token that names no issuer. */
  readonly issuer: string | null;
  readonly claims: Claims;
  /** The id of the key; `null` without one. */
  readonly keyId: string | null;
  /** The name of a header that is not accepted, or not with this value; `null` for none. */
  readonly rejectedHeader: string | null;
}

/** A JWS in compact serialization (RFC 7515, section 7.1); a JWE has five parts. */
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;

/**
 * Headers that choose the format (RFC 7515, 7516, 7797), which a token may not do. `cty` marks a
 * nested token. Those that name a key (`jku`, `jwk`, `x5u`, `x5c`) are ignored: only the keys of
 * the issuer's entry count.
 */
const REJECTED_HEADERS = ['crit', 'b64', 'cty', 'zip', 'enc'] as const;

/**
 * The types of access tokens and plain tokens. Logout tokens and DPoP proofs are signed with the
 * same keys.
 */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'jose', 'at+jwt']);

const MAX_KEY_ID_LENGTH = 256;

/** Returns `null` unless the text is a signed token. */
export function readJwtParts(token: string): JwtParts | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  const [, first = '', second = ''] = COMPACT.exec(token) ?? [];
  const header = first === '' ? undefined : decodeObject(first);
  const written = decodeObject(second);
  if (header === undefined || written === undefined) return null;
  const claims = dropNulls(written);
  const { iss } = claims;
  const issuer = typeof iss === 'string' ? iss : null;
  const { kid } = header;
  const keyId = typeof kid === 'string' ? kid : null;
  return { issuer, claims, keyId, rejectedHeader: findRejectedHeader(header) };
}

function decodeObject(part: string): Claims | undefined {
  const text = decodeUtf8(Buffer.from(part, 'base64url'));
  return text === null ? undefined : parsePlainObject(text);
}

function findRejectedHeader(header: Claims): string | null {
  const { alg, typ = 'jwt', kid = '' } = header;
  if (typeof alg !== 'string') return 'alg';
  if (typeof typ !== 'string' || !TYPES.has(typ.toLowerCase().replace(/^application\//, ''))) {
    return 'typ';
  }
  if (typeof kid !== 'string' || kid.length > MAX_KEY_ID_LENGTH) return 'kid';
  return REJECTED_HEADERS.find((name) => Object.hasOwn(header, name)) ?? null;
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

const MS_PER_SECOND = 1000;

/**
 * @throws RejectedToken for an invalid token, key or claim; UnverifiableToken while no key of the issuer is
 * known.
 */
export async function verifyJwt(
  token: string,
  { claims, keyId, rejectedHeader: detail }: JwtParts,
  { config, keys }: Issuer,
): Promise<VerifiedToken> {
  if (detail !== null) {
    throw new RejectedToken(`the header '${detail}' is not accepted`, 'header', { detail });
  }
  try {
    await keys.verify(token, config.algorithms);
    assertClaims(claims, {
      issuer: config.issuer,
      audience: config.audience,
      audienceClaim: config.audience_claim ?? ISSUER_DEFAULTS.audience_claim,
      required: ['exp', 'iat', nameIdClaim(config.actor)],
      skewSeconds: config.clock_skew_seconds ?? ISSUER_DEFAULTS.clock_skew_seconds,
      maxAgeSeconds: config.max_age_seconds ?? ISSUER_DEFAULTS.max_age_seconds,
    });
    const expiresAt = Number(claims['exp']) * MS_PER_SECOND;
    return { actor: createActor(claims, config.actor), expiresAt };
  } catch (error) {
    const rejected = explain(error, config.issuer);
    if (rejected instanceof RejectedToken && isOfKnownKey(error)) rejected.keyId = keyId;
    throw rejected;
  }
}

/** Whether the issuer has a key with the id that the token names. */
function isOfKnownKey(error: unknown): boolean {
  return (
    !(error instanceof errors.JOSEError) || error instanceof errors.JWSSignatureVerificationFailed
  );
}

function explain(error: unknown, issuer: string): RejectedToken | UnverifiableToken {
  if (error instanceof RejectedToken) return error;
  if (error instanceof IssuerError) {
    return new UnverifiableToken(issuer, error.message, { cause: error });
  }
  if (!(error instanceof errors.JOSEError)) {
    const options = { isSuspicious: true, cause: error };
    return new RejectedToken('the key cannot be used', 'signature', options);
  }
  const reason = error instanceof errors.JWSInvalid ? 'malformed' : 'signature';
  return new RejectedToken(error.code, reason, { cause: error });
}

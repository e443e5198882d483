import { errors, jwtVerify } from 'jose';
import type { Actor } from '../contract/index.js';
import { decodeUtf8 } from '../lib/decode-utf8.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import type { IssuerKeys } from './issuer-keys.js';
import { IssuerError } from './issuer-request.js';
import { ISSUER_DEFAULTS, type IssuerConfig } from './issuers-file.js';
import { type Claims, createActor, UnmappedClaims } from './map-claims.js';
import { parsePlainObject } from './strict-json.js';

/** Claimed by the token: not trusted before the signature is verified. */
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

/** Access tokens and plain ones; logout tokens and DPoP proofs are signed with the same keys. */
const TYPES: ReadonlySet<unknown> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

const MAX_KEY_ID_LENGTH = 256;

/** Reads the parts that select the issuer; `null` for a token that no issuer would sign. */
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

  constructor(message: string, isSuspicious: boolean, options?: ErrorOptions) {
    super(message, options);
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
  try {
    const { payload } = await jwtVerify(token, keys.get, {
      issuer: config.issuer,
      audience: config.audience,
      algorithms: [...config.algorithms],
      clockTolerance: config.clock_skew_seconds ?? ISSUER_DEFAULTS.clock_skew_seconds,
      // Also requires `iat`, not in the future.
      maxTokenAge: config.max_age_seconds ?? ISSUER_DEFAULTS.max_age_seconds,
      requiredClaims: ['exp'],
    });
    // Bound to a key of the caller (RFC 7800), which a bearer token does not prove.
    if (payload['cnf'] !== undefined) throw new RejectedToken('the token is bound to a key', false);
    const { exp = 0 } = payload;
    return { actor: createActor(payload, config.actor), expiresAt: exp * MS_PER_SECOND };
  } catch (error) {
    throw explain(error, config.issuer);
  }
}

function explain(error: unknown, issuer: string): RejectedToken | UnverifiableToken {
  if (error instanceof RejectedToken) return error;
  if (error instanceof IssuerError) {
    return new UnverifiableToken(issuer, error.message, { cause: error });
  }
  if (error instanceof UnmappedClaims)
    return new RejectedToken(error.message, true, { cause: error });
  const code = error instanceof errors.JOSEError ? error.code : 'the key cannot be used';
  return new RejectedToken(code, !(error instanceof errors.JOSEError), { cause: error });
}

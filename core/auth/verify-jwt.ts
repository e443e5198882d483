import { errors, jwtVerify } from 'jose';
import type { Actor } from '../contract/index.js';
import type { IssuerKeys } from './issuer-keys.js';
import { IssuerTrouble } from './issuer-request.js';
import { ISSUER_DEFAULTS, type IssuerConfig } from './issuers-file.js';
import { createActor, UnmappedClaims } from './map-claims.js';

export interface Issuer {
  readonly config: IssuerConfig;
  readonly keys: IssuerKeys;
}

export interface VerifiedToken {
  readonly actor: Actor;
  /** From then on it is too old. Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A token that is refused; the message says why, without anything that the token says. */
export class RefusedToken extends Error {
  override readonly name = 'RefusedToken';
  /** Whether ops can mend it: its claims do not fit the mapping, or its key cannot be used. */
  readonly isTrouble: boolean;

  constructor(message: string, isTrouble: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isTrouble = isTrouble;
  }
}

/** Nobody can say what a token is worth: it may be good, so it is not refused, nor is anybody let in. */
export class UnjudgedToken extends Error {
  override readonly name = 'UnjudgedToken';

  constructor(issuer: string, reason: string, options?: ErrorOptions) {
    super(`the issuer '${issuer}' ${reason}`, options);
  }
}

const MS_PER_SECOND = 1000;

/**
 * @throws RefusedToken, whatever is wrong with the token, its key or its claims; UnjudgedToken as long as
 * no key of the issuer is known.
 */
export async function verifyJwt(token: string, { config, keys }: Issuer): Promise<VerifiedToken> {
  try {
    const { payload } = await jwtVerify(token, keys.get, {
      issuer: config.issuer,
      audience: config.audience,
      algorithms: [...config.algorithms],
      clockTolerance: config.clock_skew_seconds ?? ISSUER_DEFAULTS.clock_skew_seconds,
      // Asks for `iat` too, and for one that is not in the future.
      maxTokenAge: config.max_age_seconds ?? ISSUER_DEFAULTS.max_age_seconds,
      requiredClaims: ['exp'],
    });
    // Bound to a key of the caller (RFC 7800), which a bearer does not show.
    if (payload['cnf'] !== undefined) throw new RefusedToken('it is bound to a key', false);
    const { exp = 0 } = payload;
    return { actor: createActor(payload, config.actor), expiresAt: exp * MS_PER_SECOND };
  } catch (error) {
    throw explain(error, config.issuer);
  }
}

function explain(error: unknown, issuer: string): RefusedToken | UnjudgedToken {
  if (error instanceof RefusedToken) return error;
  if (error instanceof IssuerTrouble) {
    return new UnjudgedToken(issuer, error.message, { cause: error });
  }
  if (error instanceof UnmappedClaims)
    return new RefusedToken(error.message, true, { cause: error });
  const code = error instanceof errors.JOSEError ? error.code : 'the key cannot be used';
  return new RefusedToken(code, !(error instanceof errors.JOSEError), { cause: error });
}

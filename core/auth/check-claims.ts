import { readMember } from '../lib/read-member.js';
import type { ClaimName } from './issuers-file.js';
import { type Claims, findClaim, formatClaimName } from './map-claims.js';
import { createMismatch, findNear } from './mismatch.js';
import { createClaimError, RejectedToken } from './rejected-token.js';

interface ClaimRules {
  readonly issuer?: string | undefined;
  /** One of them must be the value of the claim for the audience, or in it. */
  readonly audience?: string | readonly string[] | undefined;
  readonly audienceClaim: ClaimName;
  /** The claims besides those of the issuer and the audience. */
  readonly required: readonly ClaimName[];
  readonly skewSeconds: number;
  /** Requires `iat`, not in the future, and limits the age of the token. */
  readonly maxAgeSeconds?: number;
}

const MS_PER_SECOND = 1000;
/** Values of `typ` and `token_type` in tokens that are not access tokens (Keycloak and others). */
const OTHER_KIND = /^(?:serialized-)?(?:refresh|id|offline|logout)(?:[ _+-]?(?:token|jwt))?$/i;
/** Values of `token_use` in access tokens (Cognito and Hydra). */
const ACCESS_USE = /^access(?:_token)?$/i;
/** The event of a logout token (OpenID Connect Back-Channel Logout). */
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

const DATES = ['exp', 'nbf', 'iat'];

/**
 * Checks the claims of a signed token, or those that introspection returns: an issuer may report
 * `active` by its own clock and for any resource.
 * @throws RejectedToken that names the claim that is missing or of another type.
 */
export function assertClaims(claims: Claims, rules: ClaimRules): void {
  assertPresent(claims, rules);
  const otherKind = findOtherKind(claims);
  if (otherKind !== null) {
    throw new RejectedToken('the token is no access token', 'claim', { detail: otherKind });
  }
  const { issuer, audience, audienceClaim, skewSeconds, maxAgeSeconds } = rules;
  if (issuer !== undefined && claims['iss'] !== issuer) {
    throw createMismatch('issuer', findNear(claims['iss'], [issuer]));
  }
  if (audience !== undefined) {
    const found = findClaim(claims, audienceClaim);
    const audiences = [audience].flat();
    if (!isMeantFor(found, audiences)) {
      throw createMismatch('audience', findNear(found, audiences));
    }
  }
  const now = Date.now() / MS_PER_SECOND;
  const { exp, nbf, iat, cnf } = claims as Readonly<Record<string, number | undefined>>;
  if (nbf !== undefined && nbf > now + skewSeconds) {
    throw new RejectedToken('the token is not valid yet', 'not_yet_valid');
  }
  if (exp !== undefined && exp <= now - skewSeconds) {
    throw new RejectedToken('the token has expired', 'expired');
  }
  if (maxAgeSeconds !== undefined && iat !== undefined) {
    if (iat > now + skewSeconds) {
      throw new RejectedToken('the token was issued in the future', 'not_yet_valid');
    }
    if (now - iat > maxAgeSeconds + skewSeconds) {
      throw new RejectedToken('the token is too old', 'expired');
    }
  }
  // The token is bound to a key of the caller (RFC 7800); a bearer token does not prove its
  // possession.
  if (cnf !== undefined) {
    throw new RejectedToken('the token is bound to a key', 'claim', { detail: 'cnf' });
  }
}

function assertPresent(
  claims: Claims,
  { issuer, audience, audienceClaim, required }: ClaimRules,
): void {
  const names: ClaimName[] = [
    ...(issuer === undefined ? [] : ['iss']),
    ...(audience === undefined ? [] : [audienceClaim]),
    ...required,
  ];
  for (const name of names) {
    if (findClaim(claims, name) === undefined)
      throw createClaimError(formatClaimName(name), 'is missing');
  }
  for (const name of DATES) {
    const value = claims[name];
    if (value !== undefined && !Number.isFinite(value)) {
      throw createClaimError(name, 'must be a number of seconds');
    }
  }
}

/** The claim that says that the token is a refresh token, an ID token or a logout token. */
function findOtherKind(claims: Claims): string | null {
  const { token_use: use, events } = claims;
  if (use !== undefined && !(typeof use === 'string' && ACCESS_USE.test(use))) return 'token_use';
  if (readMember(events, LOGOUT_EVENT) !== undefined) return 'events';
  const isOther = (name: string) => OTHER_KIND.test(String(claims[name]));
  return ['typ', 'token_type'].find(isOther) ?? null;
}

function isMeantFor(value: unknown, audiences: readonly unknown[]): boolean {
  return [value].flat().some((audience) => audiences.includes(audience));
}

import type { Secret } from '../contract/index.js';
import { askIssuer, IssuerTrouble } from './issuer-request.js';
import type { IntrospectionConfig } from './issuers-file.js';
import { type Claims, createActor, UnmappedClaims } from './map-claims.js';
import { RefusedToken, UnjudgedToken, type VerifiedToken } from './verify-jwt.js';

const MS_PER_SECOND = 1000;

/**
 * Asks an issuer what a token is worth (RFC 7662).
 * @throws RefusedToken when it is worth nothing; UnjudgedToken when the issuer does not say.
 */
export async function introspect(
  token: string,
  config: IntrospectionConfig,
  secret: Secret,
  signal: AbortSignal,
): Promise<VerifiedToken> {
  try {
    const answer = await askIssuer(config.url, {
      method: 'POST',
      headers: {
        authorization: `Basic ${formatBasic(config.client_id, secret)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
      signal,
    });
    return judge(answer, config);
  } catch (error) {
    if (error instanceof IssuerTrouble) {
      throw new UnjudgedToken(config.name, error.message, { cause: error });
    }
    if (error instanceof UnmappedClaims)
      throw new RefusedToken(error.message, true, { cause: error });
    throw error;
  }
}

/** RFC 6749 2.3.1: both are encoded as in a form before they are joined. */
function formatBasic(clientId: string, secret: Secret): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return Buffer.from(`${encode(clientId)}:${encode(secret.reveal())}`).toString('base64');
}

function judge(answer: unknown, config: IntrospectionConfig): VerifiedToken {
  if (typeof answer !== 'object' || answer === null || !('active' in answer)) {
    throw new IssuerTrouble('answered with no introspection');
  }
  const claims = answer as Claims;
  if (claims['active'] !== true) throw new RefusedToken('it is not active', false);
  const refusal = findRefusal(claims, config);
  if (refusal !== null) throw new RefusedToken(refusal, false);
  const { exp } = claims;
  const expiresAt = typeof exp === 'number' ? exp * MS_PER_SECOND : Number.POSITIVE_INFINITY;
  return { actor: createActor(claims, config.actor), expiresAt };
}

/** An issuer may answer `active` by its own clock and for any resource: what it says besides is judged. */
function findRefusal(claims: Claims, { issuer, audience }: IntrospectionConfig): string | null {
  const { exp, nbf, iss, aud, cnf, token_type: type } = claims;
  const now = Date.now() / MS_PER_SECOND;
  if (exp !== undefined && !(typeof exp === 'number' && exp > now)) return 'it has expired';
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now)) return 'it is of the future';
  if (issuer !== undefined && iss !== issuer) return 'another issuer made it';
  if (audience !== undefined && !isMeantFor(aud, [audience].flat()))
    return 'it is for another audience';
  const isBearer =
    type === undefined || (typeof type === 'string' && /^(?:bearer|access_token)$/i.test(type));
  return cnf === undefined && isBearer ? null : 'it is bound to a key';
}

function isMeantFor(aud: unknown, audiences: readonly string[]): boolean {
  return [aud].flat().some((one) => typeof one === 'string' && audiences.includes(one));
}

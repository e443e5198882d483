import type * as OpenidClient from 'openid-client';
import type { ClientAuth, CustomFetchOptions } from 'openid-client';
import { isProviderFailure, type Secret } from '../../../core/contract/index.js';
import { parseMembers, readTokenAnswer } from '../../shared/transport/tokens/token-answer.js';

type IssuerFetch = (url: string, options: CustomFetchOptions) => Promise<Response>;

/**
 * Returns tokens in the form that openid-client requires. Many servers leave out `token_type`, send
 * `null` for what they leave out, or respond with another 2xx.
 * @returns rejects with a ProviderFailure that names an unusable member.
 */
export function withUsualTokens(fetchFromIssuer: IssuerFetch): IssuerFetch {
  return async (url, options) => {
    const response = await fetchFromIssuer(url, options);
    if (!response.ok || options.method !== 'POST') return response;
    const text = await response.text();
    const members = parseMembers(text);
    const { access_token: token, error, id_token: id, refresh_token: refresh } = members ?? {};
    if (token == null || error != null) return new Response(text || null, response);
    return Response.json({
      ...readTokenAnswer(members),
      ...(id != null && { id_token: id }),
      ...(refresh != null && { refresh_token: refresh }),
    });
  };
}

/** Rejects with the ProviderFailure that openid-client has wrapped, if there is one. */
export async function unwrapFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    throw isProviderFailure(cause) ? cause : error;
  }
}

const BASIC = 'client_secret_basic';

/**
 * Sends the current secret, in the form if the issuer's metadata lists that, and not Basic
 * authentication.
 */
export function createSecretAuth(
  {
    ClientSecretBasic,
    ClientSecretPost,
  }: Pick<typeof OpenidClient, 'ClientSecretBasic' | 'ClientSecretPost'>,
  readSecret: () => Secret,
): ClientAuth {
  return (server, ...request) => {
    const { token_endpoint_auth_methods_supported: methods = [BASIC] } = server;
    const usesPost = methods.includes('client_secret_post') && !methods.includes(BASIC);
    const create = usesPost ? ClientSecretPost : ClientSecretBasic;
    create(readSecret().reveal())(server, ...request);
  };
}

import { headerValues } from '../../../core/selftest/raw-http.js';
import type { Attack } from '../attack.js';
import { sendOnce } from '../expectations.js';
import {
  CREDENTIAL_VARIABLE,
  listReceived,
  type OwnModules,
  readHeader,
  type Scene,
} from '../scene.js';
import { OTHER_ISSUER, signClaims, TOKEN_ISSUER } from '../servers/signed-tokens.js';

/** The start of the tokens on behalf of a caller. */
export const exchangedToken = (subject: string) => `exchanged-${subject}-`;
/** The target of a redirect, on a server that no request may reach. */
export const REDIRECT_TARGET = '/stolen-token';

/** The provider of both gets a token on behalf of each caller. The second token endpoint redirects. */
export function createExchangingModules(endpoints: readonly [string, string]): OwnModules {
  const [exchanging, redirected] = endpoints.map((token_url) => ({
    provider_errors: 'passthrough',
    config: {
      auth: {
        exchange: {
          ...{ issuer: TOKEN_ISSUER, token_url },
          ...{ client_id: 'selftest', client_secret: `env:${CREDENTIAL_VARIABLE}` },
        },
      },
    },
  }));
  return { ...(exchanging && { exchanging }), ...(redirected && { redirected }) };
}

export const EXCHANGE_CASES: readonly Attack[] = [
  {
    id: 'jwt-exchange-caller',
    title: "one caller's exchanged token for another",
    attack: async (scene) => {
      for (const subject of ['ann', 'bob', 'ann']) {
        await callAs(scene, 'exchanging', '/items', subject, 200);
        const [received] = listReceived(scene, scene.provider).slice(-1);
        const token = received && readHeader(received, 'authorization').join();
        if (!token?.startsWith(`Bearer ${exchangedToken(subject)}`)) {
          return 'the provider did not get the token on behalf of the caller';
        }
      }
      return null;
    },
  },
  {
    id: 'jwt-exchange-issuer',
    title: 'a token of another issuer at a token endpoint',
    attack: async (scene) => {
      await callAs(scene, 'exchanging', '/items', 'eve', 403, OTHER_ISSUER);
      const isCalled = listReceived(scene, scene.provider).length > 0;
      return isCalled ? 'the provider was called' : null;
    },
  },
  {
    id: 'leak-exchanged-token',
    title: 'an exchanged token that the provider repeats in an error',
    attack: async (scene) => {
      const response = await callAs(scene, 'exchanging', '/answers/repeated', 'ann', 409);
      const isShown = response.body.includes(exchangedToken('ann'));
      return isShown ? 'the response has the token' : null;
    },
  },
  {
    id: 'ssrf-token-endpoint',
    title: 'a token endpoint that redirects',
    attack: async (scene) => {
      const before = scene.bystander.requests.length;
      const response = await callAs(scene, 'redirected', '/items', 'ann', null);
      const since = scene.bystander.requests.slice(before);
      if (since.some(({ target }) => target.startsWith(REDIRECT_TARGET))) {
        return 'the redirect was followed';
      }
      if (headerValues(response.headers, 'location').length > 0) return 'the client was redirected';
      return response.status === 502 ? null : `responded with ${response.status} instead of 502`;
    },
  },
];

function callAs(
  scene: Scene,
  module: string,
  path: string,
  sub: string,
  status: number | null,
  iss = TOKEN_ISSUER,
) {
  const token = signClaims({ ...scene.issuer.claims(), sub, iss }, scene.issuer.key);
  return sendOnce(scene, { target: `/modules/${module}/http${path}`, token }, status);
}

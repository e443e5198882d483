import type { Attack, Verdict } from '../attack-case.js';
import {
  EXCHANGING_MODULE,
  exchangedToken,
  REDIRECT_TARGET,
  REDIRECTED_MODULE,
} from '../exchange-server.js';
import { sendOnce } from '../expectations.js';
import { headerValues } from '../raw-http.js';
import { listReceived, requireOwn, type Scene } from '../scene.js';
import { OTHER_ISSUER, signClaims } from '../signed-tokens.js';

export const EXCHANGE_CASES: readonly Attack[] = [
  {
    id: 'jwt-exchange-caller',
    title: "one caller's exchanged token for another",
    attack: async (scene) => {
      for (const subject of ['ann', 'bob', 'ann']) {
        await callAs(scene, EXCHANGING_MODULE, '/items', subject, 200);
        const sent = listReceived(scene, requireOwn(scene).exchange).at(-1)?.rawHeaders ?? [];
        if (!sent.includes(`Bearer ${exchangedToken(subject)}`)) {
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
      await callAs(scene, EXCHANGING_MODULE, '/items', 'eve', 403, OTHER_ISSUER);
      return listReceived(scene, requireOwn(scene).exchange).length === 0
        ? null
        : 'the provider was called';
    },
  },
  {
    id: 'leak-exchanged-token',
    title: 'an exchanged token that the provider repeats in an error',
    attack: async (scene) => {
      const response = await callAs(scene, EXCHANGING_MODULE, '/answers/repeated', 'ann', 409);
      const isShown = response.body.includes(exchangedToken('ann'));
      return isShown ? 'the response has the token' : null;
    },
  },
  {
    id: 'ssrf-token-endpoint',
    title: 'a token endpoint that redirects',
    attack: async (scene): Promise<Verdict> => {
      const { bystander } = requireOwn(scene);
      const before = bystander.requests.length;
      const response = await callAs(scene, REDIRECTED_MODULE, '/items', 'ann', null);
      if (
        bystander.requests.slice(before).some(({ target }) => target.startsWith(REDIRECT_TARGET))
      ) {
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
  subject: string,
  status: number | null,
  issuer?: string,
) {
  const { key, claims } = requireOwn(scene).issuer;
  const issuerParameter = issuer === undefined ? {} : { iss: issuer };
  const token = signClaims({ ...claims(), sub: subject, ...issuerParameter }, key);
  return sendOnce(scene, { target: `/modules/${module}/http${path}`, token }, status);
}

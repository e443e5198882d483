import type { RawHeader } from '../../../core/selftest/raw-http.js';
import type { Attack, CraftedRequest, Verdict } from '../attack.js';
import { sendOnce } from '../expectations.js';
import { listReceived, type OwnModules, type Scene } from '../scene.js';
import { signNeighbor } from '../servers/signed-tokens.js';

const createRoute = (path: string, cache: object) => ({
  ...{ method: 'GET', path, capability: 'shop.use' },
  operation: { cache: { ttl_ms: 600_000, ...cache } },
});

/** The first route is cached for each caller, the second for all. */
export const CACHE_MODULES: OwnModules = {
  kept: {
    routes: [createRoute('/kept/own/{id}', {}), createRoute('/kept/shared/{id}', { shared: true })],
  },
};

const BASE = '/modules/kept/http/kept';
/** Headers that change the response of some providers. */
const POISONS: readonly RawHeader[] = [
  ['accept-language', 'evil'],
  ['prefer', 'evil'],
  ['if-match', '"evil"'],
];

export const CACHE_CASES: readonly Attack[] = [
  {
    id: 'cache-actor',
    title: 'a response is not given to another caller',
    attack: async (scene) => {
      const target = `${BASE}/own/${scene.mark}`;
      const token = signNeighbor(scene.issuer);
      return (await expectCall(scene, { target })) ?? expectCall(scene, { target, token });
    },
  },
  {
    id: 'cache-poisoned',
    title: 'a response to a request with further headers is not given to others',
    attack: async (scene) => {
      for (const [index, header] of POISONS.entries()) {
        const target = `${BASE}/shared/${scene.mark}-${index}`;
        const failure =
          (await expectCall(scene, { target, headers: [header] })) ??
          (await expectCall(scene, { target }));
        if (failure !== null) return failure;
      }
      return null;
    },
  },
  {
    id: 'cache-purge',
    title: 'a caller without the scope cannot purge',
    send: { method: 'DELETE', target: '/cache?module=kept' },
    rejected: 403,
  },
];

/** Expects a 200 after a call of the provider. */
async function expectCall(scene: Scene, request: CraftedRequest): Promise<Verdict> {
  const before = listReceived(scene, scene.provider).length;
  await sendOnce(scene, request, 200);
  const isCalled = listReceived(scene, scene.provider).length > before;
  return isCalled ? null : 'responded with what was kept for another request';
}

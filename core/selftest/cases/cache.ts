import type { Attack, Verdict } from '../attack-case.js';
import { sendOnce } from '../expectations.js';
import type { RawHeader } from '../raw-http.js';
import { listReceived, requireOwn, type Scene } from '../scene.js';
import { signNeighbor } from './neighbors.js';

export const CACHING_MODULE = 'kept';

/** The first route is cached for each caller, the second for all. */
export const CACHE_ROUTES = [
  { path: '/kept/own/{id}', cache: { ttl_ms: 600_000 } },
  { path: '/kept/shared/{id}', cache: { ttl_ms: 600_000, shared: true } },
].map(({ path, cache }) => ({
  method: 'GET',
  path,
  capability: 'shop.use',
  operation: { cache },
}));

const BASE = `/modules/${CACHING_MODULE}/http/kept`;
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
      const token = signNeighbor(requireOwn(scene).issuer);
      return (await expectCall(scene, target)) ?? expectCall(scene, target, { token });
    },
  },
  {
    id: 'cache-poisoned',
    title: 'a response to a request with further headers is not given to others',
    attack: async (scene) => {
      for (const [index, header] of POISONS.entries()) {
        const target = `${BASE}/shared/${scene.mark}-${index}`;
        const failure =
          (await expectCall(scene, target, { headers: [header] })) ??
          (await expectCall(scene, target));
        if (failure !== null) return failure;
      }
      return null;
    },
  },
  {
    id: 'cache-purge',
    title: 'a caller without the scope cannot purge',
    send: { method: 'DELETE', target: `/cache?module=${CACHING_MODULE}` },
    rejected: 403,
  },
];

/** Expects a 200 after a call of the provider. */
async function expectCall(
  scene: Scene,
  target: string,
  more: { readonly token?: string; readonly headers?: readonly RawHeader[] } = {},
): Promise<Verdict> {
  const { provider } = requireOwn(scene);
  const before = listReceived(scene, provider).length;
  await sendOnce(scene, { target, ...more }, 200);
  const isCalled = listReceived(scene, provider).length > before;
  return isCalled ? null : 'responded with what was kept for another request';
}

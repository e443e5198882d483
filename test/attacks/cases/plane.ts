import { type Attack, reject } from '../attack.js';
import { craftRequest, expectBystanderUncalled } from '../expectations.js';
import { readHeader } from '../scene.js';

export const PLANE_CASES: readonly Attack[] = [
  {
    id: 'host-metadata',
    title: 'the host of a metadata service',
    send: (scene) => craftRequest({ ...scene, authority: '169.254.169.254' }),
    forwarded: (recorded, _, { provider }) => {
      const host = readHeader(recorded, 'host').join();
      return host === `127.0.0.1:${provider.port}`
        ? null
        : `the provider received the host ${host}`;
    },
  },
  reject(
    'host-metrics',
    'metrics for a page that rebinds its name to loopback',
    (scene) =>
      craftRequest({ ...scene, authority: 'evil.test' }, { token: null, target: '/metrics' }),
    401,
  ),
  reject(
    'host-metrics-proxy',
    'metrics for a client behind a proxy on this machine',
    { token: null, target: '/metrics', headers: [['x-forwarded-for', '192.0.2.1']] },
    401,
  ),
  {
    id: 'ssrf-query',
    title: 'a query with the URL of another server',
    send: ({ bystander }) => {
      const url = encodeURIComponent(bystander.url);
      return { path: `/items?url=${url}&target=${url}` };
    },
    forwarded: (_, __, scene) => expectBystanderUncalled(scene),
  },
  {
    id: 'ssrf-authority',
    title: 'an authority in the path',
    send: ({ bystander, mark }) => ({ path: `/files/@127.0.0.1:${bystander.port}/${mark}` }),
    forwarded: (_, __, scene) => expectBystanderUncalled(scene),
  },
  ...['modules', 'fleet'].map((name) => {
    const send = { target: `/${name}`, as: 'stranger' } as const;
    return reject(`admin-scope-${name}`, `GET /${name} without its scope`, send, 403);
  }),
];

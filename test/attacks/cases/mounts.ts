import { type Attack, reject } from '../attack.js';
import { craftRequest } from '../expectations.js';
import type { OwnModules, Scene } from '../scene.js';

const HOST = 'shelf.selftest.test';

/**
 * A module with two mounts, a path and a separate host name; one that requests a path of the host; and
 * one that requests all paths under the name that requests of surfaces have.
 */
export const MOUNT_MODULES: OwnModules = {
  mounted: { mount: [{ path: '/shelf' }, { host: HOST, path: '/' }] },
  shadow: { mount: [{ path: '/audit' }] },
  local: { mount: [{ host: 'localhost', path: '/' }] },
};

type Row = readonly [name: string, title: string, target: string, host?: string];

const REJECTED: readonly Row[] = [
  ['encoded', 'an encoded letter of a mount', '/%73helf/items'],
  ['encoded-slash', 'an encoded slash behind a mount', '/shelf%2fitems'],
  ['double-slash', 'two slashes in front of a mount', '//shelf/items'],
  ['case', 'a mount in another case', '/SHELF/items'],
  ['parameter', 'a path parameter behind a mount', '/shelf;a/items'],
  ['dots-into', 'dot segments that lead to a mount', '/a/../shelf/items'],
  ['dots-out', 'dot segments that leave a mount', '/shelf/../locked'],
  ['dots-encoded', 'encoded dot segments', '/shelf/%2e%2e/items'],
  ['locked', 'a route below a mount without its capability', '/shelf/locked'],
  ['host-longer', 'a longer host', '/items', `${HOST}.evil.test`],
  ['host-below', 'a host below that of a mount', '/items', `a.${HOST}`],
  ['host-list', 'a list of hosts', '/items', `${HOST},a`],
  ['host-absolute', 'the host of a mount in the target', `http://${HOST}/items`],
  ['host-modules', 'the modules of the host below the name', '/modules', HOST],
  ['host-metrics', 'the metrics of the host below the name of a mount', '/metrics', HOST],
  ['host-other', 'another module below the name of a mount', '/modules/shop/http/items', HOST],
];

export const MOUNT_CASES: readonly Attack[] = [
  ...REJECTED.map(([name, title, target, authority]) => {
    const send = (scene: Scene) =>
      craftRequest({ ...scene, ...(authority && { authority }) }, { target });
    return reject(`mount-${name}`, title, send, [400, 403, 404]);
  }),
  reject('mount-shadow', 'a mount that takes a path of the host', { target: '/audit' }, 403),
  reject(
    'mount-forwarded-host',
    'the host of a mount in x-forwarded-host',
    {
      target: '/items',
      headers: [
        ['x-forwarded-host', HOST],
        ['forwarded', `host=${HOST}`],
      ],
    },
    [400, 403, 404],
  ),
  {
    id: 'mount-served',
    title: 'a mount serves its module, regardless of headers',
    send: { target: '/shelf/items', headers: [['x-forwarded-prefix', '/locked']] },
    forwarded: ({ target }) => (target === '/items' ? null : `the provider received ${target}`),
  },
];

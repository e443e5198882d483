import type { Attack } from '../attack-case.js';
import { craftRequest } from '../request-bytes.js';

/** The module has two mounts: a path, and a separate host name. */
export const MOUNTED_MODULE = 'mounted';
export const MOUNT_PATH = '/shelf';
export const MOUNT_HOST = 'shelf.selftest.test';
/** The module requests this path of the host, and must not get it. */
export const SHADOWING_MODULE = 'shadow';
export const SHADOWED_PATH = '/audit';

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
  ['host-longer', 'a longer host', '/items', `${MOUNT_HOST}.evil.test`],
  ['host-below', 'a host below that of a mount', '/items', `a.${MOUNT_HOST}`],
  ['host-list', 'a list of hosts', '/items', `${MOUNT_HOST},a`],
  ['host-absolute', 'the host of a mount in the target', `http://${MOUNT_HOST}/items`],
  ['host-modules', 'the modules of the host below the name of a mount', '/modules', MOUNT_HOST],
  ['host-metrics', 'the metrics of the host below the name of a mount', '/metrics', MOUNT_HOST],
  [
    'host-other',
    'another module below the name of a mount',
    '/modules/shop/http/items',
    MOUNT_HOST,
  ],
];

export const MOUNT_CASES: readonly Attack[] = [
  ...REJECTED.map(
    ([name, title, target, authority]): Attack => ({
      id: `mount-${name}`,
      title,
      send: (scene) => craftRequest({ ...scene, ...(authority && { authority }) }, { target }),
      rejected: [400, 403, 404],
    }),
  ),
  {
    id: 'mount-shadow',
    title: 'a mount that takes a path of the host',
    send: { target: SHADOWED_PATH },
    rejected: 403,
  },
  {
    id: 'mount-forwarded-host',
    title: 'the host of a mount in x-forwarded-host',
    send: {
      target: '/items',
      headers: [
        ['x-forwarded-host', MOUNT_HOST],
        ['forwarded', `host=${MOUNT_HOST}`],
      ],
    },
    rejected: [400, 403, 404],
  },
  {
    id: 'mount-served',
    title: 'a mount serves its module, regardless of headers',
    send: { target: `${MOUNT_PATH}/items`, headers: [['x-forwarded-prefix', '/locked']] },
    forwarded: ({ target }) => (target === '/items' ? null : `the provider received ${target}`),
  },
];

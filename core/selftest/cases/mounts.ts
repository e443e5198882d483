import type { Attack } from '../attack-case.js';
import { expectForwarded, expectRejected } from '../expectations.js';
import type { RawHeader } from '../raw-http.js';
import { craftRequest } from '../request-bytes.js';

/** The module has two mounts: a path, and a separate host name. */
export const MOUNTED_MODULE = 'mounted';
export const MOUNT_PATH = '/shelf';
export const MOUNT_HOST = 'shelf.selftest.test';
/** The module requests this path of the host, and must not get it. */
export const SHADOWING_MODULE = 'shadow';
export const SHADOWED_PATH = '/audit';

interface MountAttack {
  readonly name: string;
  readonly title: string;
  readonly target: string;
  readonly host?: string;
  readonly headers?: readonly RawHeader[];
  readonly statuses?: readonly number[];
}

const REJECTED: readonly MountAttack[] = [
  { name: 'encoded', title: 'an encoded letter of a mount', target: '/%73helf/items' },
  { name: 'encoded-slash', title: 'an encoded slash behind a mount', target: '/shelf%2fitems' },
  { name: 'double-slash', title: 'two slashes in front of a mount', target: '//shelf/items' },
  { name: 'case', title: 'a mount in another case', target: '/SHELF/items' },
  { name: 'parameter', title: 'a path parameter behind a mount', target: '/shelf;a/items' },
  { name: 'dots-into', title: 'dot segments that lead to a mount', target: '/a/../shelf/items' },
  { name: 'dots-out', title: 'dot segments that leave a mount', target: '/shelf/../locked' },
  { name: 'dots-encoded', title: 'encoded dot segments', target: '/shelf/%2e%2e/items' },
  {
    name: 'locked',
    title: 'a route below a mount without its capability',
    target: '/shelf/locked',
  },
  {
    name: 'shadow',
    title: 'a mount that takes a path of the host',
    target: SHADOWED_PATH,
    statuses: [403],
  },
  {
    name: 'forwarded-host',
    title: 'the host of a mount in x-forwarded-host',
    target: '/items',
    headers: [
      ['x-forwarded-host', MOUNT_HOST],
      ['forwarded', `host=${MOUNT_HOST}`],
    ],
  },
  {
    name: 'host-longer',
    title: 'a longer host',
    target: '/items',
    host: `${MOUNT_HOST}.evil.test`,
  },
  {
    name: 'host-below',
    title: 'a host below that of a mount',
    target: '/items',
    host: `a.${MOUNT_HOST}`,
  },
  { name: 'host-list', title: 'a list of hosts', target: '/items', host: `${MOUNT_HOST},a` },
  {
    name: 'host-absolute',
    title: 'the host of a mount in the target',
    target: `http://${MOUNT_HOST}/items`,
  },
  {
    name: 'host-modules',
    title: 'the modules of the host below the name of a mount',
    target: '/modules',
    host: MOUNT_HOST,
  },
  {
    name: 'host-metrics',
    title: 'the metrics of the host below the name of a mount',
    target: '/metrics',
    host: MOUNT_HOST,
  },
  {
    name: 'host-other',
    title: 'another module below the name of a mount',
    target: '/modules/shop/http/items',
    host: MOUNT_HOST,
  },
];

/** Attacks on the addresses of modules. */
export const MOUNT_CASES: readonly Attack[] = [
  ...REJECTED.map(
    ({ name, title, target, host, headers = [], statuses = [400, 403, 404] }): Attack => ({
      id: `mount-${name}`,
      title,
      attack: (scene) => {
        const attacked = host === undefined ? scene : { ...scene, authority: host };
        return expectRejected(scene, craftRequest(attacked, { target, headers }), { statuses });
      },
    }),
  ),
  {
    id: 'mount-served',
    title: 'a mount serves its module, regardless of headers',
    attack: (scene) => {
      const headers: RawHeader[] = [['x-forwarded-prefix', '/locked']];
      const request = craftRequest(scene, { target: `${MOUNT_PATH}/items`, headers });
      return expectForwarded(scene, request, ({ target }) =>
        target === '/items' ? null : `the provider received ${target}`,
      );
    },
  },
];

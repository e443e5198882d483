import type { Attack } from '../attack-case.js';
import { expectNoSecrets, sendOnce } from '../expectations.js';
import { headerValues, type RawHeader } from '../raw-http.js';
import { craftMark } from '../request-bytes.js';

const BAD_HOSTS: readonly (readonly [name: string, title: string, lines: readonly string[]])[] = [
  ['none', 'no host', []],
  ['two', 'two hosts', ['Host: 127.0.0.1', 'Host: elsewhere.test']],
  ['empty', 'an empty host', ['Host:']],
  ['path', 'a host with a path', ['Host: 127.0.0.1/modules']],
  ['user', 'a host with a user', ['Host: user@127.0.0.1']],
  ['list', 'a list of hosts', ['Host: 127.0.0.1, elsewhere.test']],
  ['space', 'a host with a space', ['Host: 127.0.0.1 elsewhere.test']],
  ['port', 'an invalid port', ['Host: 127.0.0.1:port']],
  ['markup', 'a host with markup', ['Host: <script>']],
  ['query', 'a host with a query', ['Host: 127.0.0.1?x']],
  ['nul', 'a host with a backslash', ['Host: 127.0.0.1\\elsewhere.test']],
  ['user-last', 'a host as the name of a user', ['Host: 127.0.0.1@elsewhere.test']],
  ['case', 'two hosts in different case', ['Host: 127.0.0.1', 'hOST: elsewhere.test']],
  ['url', 'a host that is a URL', ['Host: http://127.0.0.1']],
  ['bracket', 'an address without a closing bracket', ['Host: [::1']],
  ['zone', 'an address with a zone', ['Host: [fe80::1%25eth0]']],
  ['port-long', 'a port of six digits', ['Host: 127.0.0.1:999999']],
];

const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Hosts report only to the store. */
const FORGED_HEARTBEAT = JSON.stringify({
  fleet: 'shop',
  id: 'host_00000000-0000-4000-8000-000000000000',
  address: 'http://evil.test',
  digest: `sha256:${'0'.repeat(64)}`,
  state: 'ready',
});

export const PLANE_CASES: readonly Attack[] = [
  ...BAD_HOSTS.map(
    ([name, title, lines]): Attack => ({
      id: `host-${name}`,
      title,
      rejected: [400, 403],
      send: (scene) =>
        Buffer.from(
          [
            `GET ${scene.base}${scene.route} HTTP/1.1`,
            ...lines,
            `Authorization: Bearer ${scene.token}`,
            ...craftMark(scene),
            '\r\n',
          ].join('\r\n'),
          'latin1',
        ),
    }),
  ),
  ...['/modules', '/manifests', '/calls', '/metrics', '/livez', '/readyz'].flatMap((target) =>
    WRITES.slice(0, target === '/modules' ? WRITES.length : 1).map(
      (method): Attack => ({
        id: `admin-${method.toLowerCase()}-${target.slice(1)}`,
        title: `${method} ${target}`,
        rejected: 405,
        send: { method, target, ...(method !== 'OPTIONS' && { body: '{}' }) },
      }),
    ),
  ),
  {
    id: 'admin-trace',
    title: 'TRACE, which could echo the credential',
    send: { method: 'TRACE' },
    rejected: [400, 404, 405, 501],
  },
  {
    id: 'admin-connect',
    title: 'CONNECT to another server',
    send: { method: 'CONNECT', target: '169.254.169.254:80' },
    rejected: [400, 404, 405, 501],
    closes: true,
  },
  {
    id: 'admin-heartbeat',
    title: 'a forged heartbeat of a host of the fleet',
    send: { method: 'POST', target: '/fleet', body: FORGED_HEARTBEAT },
    rejected: 405,
  },
  {
    id: 'admin-cors',
    title: 'a page of another origin cannot read responses',
    attack: async (scene) => {
      const headers: RawHeader[] = [
        ['origin', 'https://evil.test'],
        ['access-control-request-method', 'POST'],
      ];
      for (const method of ['OPTIONS', 'GET']) {
        const response = await sendOnce(scene, { method, headers });
        const isOpen = response.headers.some(([name]) => /^access-control-/i.test(name));
        if (isOpen) return `the response to ${method} has a CORS header`;
      }
      return null;
    },
  },
  {
    id: 'admin-sniff',
    title: 'a response cannot be rendered or cached',
    attack: async (scene) => {
      const response = await sendOnce(scene);
      const isSafe =
        headerValues(response.headers, 'x-content-type-options')[0] === 'nosniff' &&
        headerValues(response.headers, 'cache-control')[0] === 'no-store' &&
        /^application\//.test(headerValues(response.headers, 'content-type')[0] ?? '');
      return isSafe ? expectNoSecrets(scene, response) : 'the response may be sniffed or cached';
    },
  },
];

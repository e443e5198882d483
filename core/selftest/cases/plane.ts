import type { Attack, Verdict } from '../attack-case.js';
import { expectNoSecrets, sendOnce } from '../expectations.js';
import { headerValues, type RawHeader, type ReceivedResponse } from '../raw-http.js';
import { type RecordedRequest, readRecordedHeader } from '../recording-provider.js';
import { craftMark, craftRequest } from '../request-bytes.js';
import { listReceived, requireOwn, type Scene } from '../scene.js';

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
      needs: 'token',
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
  {
    id: 'host-metadata',
    title: 'the host of a metadata service',
    send: (scene) => craftRequest({ ...scene, authority: '169.254.169.254' }),
    forwarded: (recorded, _, scene) => {
      const [host] = readRecordedHeader(recorded, 'host');
      return host === `127.0.0.1:${requireOwn(scene).provider.port}`
        ? null
        : `the provider received the host ${host}`;
    },
  },
  {
    id: 'host-metrics',
    title: 'metrics for a page that rebinds its name to loopback',
    send: (scene) =>
      craftRequest({ ...scene, authority: 'evil.test' }, { token: null, target: '/metrics' }),
    rejected: 401,
  },
  {
    id: 'host-metrics-proxy',
    title: 'metrics for a client behind a proxy on this machine',
    send: { token: null, target: '/metrics', headers: [['x-forwarded-for', '192.0.2.1']] },
    rejected: 401,
  },
  {
    id: 'ssrf-query',
    title: 'a query with the URL of another server',
    send: (scene) => {
      const url = encodeURIComponent(requireOwn(scene).bystander.url);
      return { path: `/items?url=${url}&target=${url}` };
    },
    forwarded: expectBystanderUncalled,
  },
  {
    id: 'ssrf-authority',
    title: 'an authority in the path',
    send: (scene) => ({
      path: `/files/@127.0.0.1:${requireOwn(scene).bystander.port}/${scene.mark}`,
    }),
    forwarded: expectBystanderUncalled,
  },
  ...['/modules', '/manifests', '/calls', '/metrics', '/livez', '/readyz'].flatMap((target) =>
    WRITES.slice(0, target === '/modules' ? WRITES.length : 1).map(
      (method): Attack => ({
        id: `admin-${method.toLowerCase()}-${target.slice(1)}`,
        title: `${method} ${target}`,
        needs: 'token',
        rejected: 405,
        send: { method, target, ...(method !== 'OPTIONS' && { body: '{}' }) },
      }),
    ),
  ),
  {
    id: 'admin-trace',
    title: 'TRACE, which could echo the credential',
    needs: 'token',
    send: { method: 'TRACE' },
    rejected: [400, 404, 405, 501],
  },
  {
    id: 'admin-connect',
    title: 'CONNECT to another server',
    needs: 'token',
    send: { method: 'CONNECT', target: '169.254.169.254:80' },
    rejected: [400, 404, 405, 501],
    closes: true,
  },
  {
    id: 'admin-scope-modules',
    title: 'GET /modules without its scope',
    send: { target: '/modules', as: 'stranger' },
    rejected: 403,
  },
  {
    id: 'admin-scope-fleet',
    title: 'GET /fleet without its scope',
    send: { target: '/fleet', as: 'stranger' },
    rejected: 403,
  },
  {
    id: 'admin-heartbeat',
    title: 'a forged heartbeat of a host of the fleet',
    needs: 'token',
    send: { method: 'POST', target: '/fleet', body: FORGED_HEARTBEAT },
    rejected: 405,
  },
  {
    id: 'admin-cors',
    title: 'a page of another origin cannot read responses',
    needs: 'token',
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
    needs: 'token',
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

function expectBystanderUncalled(_: RecordedRequest, __: ReceivedResponse, scene: Scene): Verdict {
  return listReceived(scene, requireOwn(scene).bystander).length === 0
    ? null
    : 'another server was called';
}

import type { AttackCase, AttackClass } from '../attack-case.js';
import { expectForwarded, expectNoSecrets, expectRejected, sendOnce } from '../expectations.js';
import { headerValues, type RawHeader } from '../raw-http.js';
import { readRecordedHeader } from '../recording-provider.js';
import { craftRequest } from '../request-bytes.js';
import { requireOwn, type Scene } from '../scene.js';

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

export const PLANE_CASES: readonly AttackCase[] = [
  ...BAD_HOSTS.map(
    ([name, title, lines]): AttackCase => ({
      ...describe('host', name, title),
      needs: 'token',
      attack: (scene) =>
        expectRejected(
          scene,
          Buffer.from(
            [
              `GET ${scene.base}${scene.route} HTTP/1.1`,
              ...lines,
              `Authorization: Bearer ${scene.token}`,
              '\r\n',
            ].join('\r\n'),
            'latin1',
          ),
          { statuses: [400, 403] },
        ),
    }),
  ),
  {
    ...describe('host', 'metadata', 'the host of a metadata service'),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(
        scene,
        craftRequest({ ...scene, authority: '169.254.169.254' }),
        (recorded) => {
          const { provider } = requireOwn(scene);
          const [host] = readRecordedHeader(recorded, 'host');
          return host === `127.0.0.1:${provider.port}`
            ? null
            : `the provider received the host ${host}`;
        },
      ),
  },
  {
    ...describe('host', 'metrics', 'metrics for a page that rebinds its name to loopback'),
    needs: 'own',
    attack: (scene) =>
      expectRejected(
        scene,
        craftRequest({ ...scene, authority: 'evil.test' }, { token: null, target: '/metrics' }),
        { statuses: [401] },
      ),
  },
  {
    ...describe('ssrf', 'query', 'a query with the URL of another server'),
    needs: 'own',
    attack: (scene) => {
      const url = encodeURIComponent(requireOwn(scene).bystander.url);
      const target = `${scene.base}/items?url=${url}&target=${url}`;
      return expectForwarded(scene, craftRequest(scene, { target }), () =>
        expectBystanderUncalled(scene),
      );
    },
  },
  {
    ...describe('ssrf', 'authority', 'an authority in the path'),
    needs: 'own',
    attack: (scene) => {
      const { port } = requireOwn(scene).bystander;
      const target = `${scene.base}/files/@127.0.0.1:${port}`;
      return expectForwarded(scene, craftRequest(scene, { target }), () =>
        expectBystanderUncalled(scene),
      );
    },
  },
  ...['/modules', '/manifests', '/calls', '/metrics', '/livez', '/readyz'].flatMap((path) =>
    WRITES.slice(0, path === '/modules' ? WRITES.length : 1).map(
      (method): AttackCase => ({
        ...describe('admin', `${method.toLowerCase()}-${path.slice(1)}`, `${method} ${path}`),
        needs: 'token',
        attack: (scene) =>
          expectRejected(
            scene,
            craftRequest(scene, {
              method,
              target: path,
              ...(method !== 'OPTIONS' && { body: '{}' }),
            }),
            { statuses: [405] },
          ),
      }),
    ),
  ),
  rejectMethod('trace', 'TRACE, which could echo the credential', 'TRACE', [400, 404, 405, 501]),
  {
    ...describe('admin', 'connect', 'CONNECT to another server'),
    needs: 'token',
    attack: (scene) =>
      expectRejected(
        scene,
        craftRequest(scene, { method: 'CONNECT', target: '169.254.169.254:80' }),
        {
          statuses: [400, 404, 405, 501],
          closes: true,
        },
      ),
  },
  {
    ...describe('admin', 'scope-modules', 'GET /modules without its scope'),
    needs: 'own',
    attack: (scene) =>
      expectRejected(
        scene,
        craftRequest(scene, { target: '/modules', token: requireOwn(scene).tokens.stranger }),
        { statuses: [403] },
      ),
  },
  {
    ...describe('admin', 'cors', 'a page of another origin cannot read responses'),
    needs: 'token',
    attack: async (scene) => {
      const headers: RawHeader[] = [
        ['origin', 'https://evil.test'],
        ['access-control-request-method', 'POST'],
      ];
      for (const method of ['OPTIONS', 'GET']) {
        const response = await sendOnce(scene, craftRequest(scene, { method, headers }));
        if (typeof response === 'string') return response;
        const isOpen = response.headers.some(([name]) => /^access-control-/i.test(name));
        if (isOpen) return `the response to ${method} has a CORS header`;
      }
      return null;
    },
  },
  {
    ...describe('admin', 'sniff', 'a response cannot be rendered or cached'),
    needs: 'token',
    attack: async (scene) => {
      const response = await sendOnce(scene, craftRequest(scene));
      if (typeof response === 'string') return response;
      const isSafe =
        headerValues(response.headers, 'x-content-type-options')[0] === 'nosniff' &&
        headerValues(response.headers, 'cache-control')[0] === 'no-store' &&
        /^application\//.test(headerValues(response.headers, 'content-type')[0] ?? '');
      return isSafe ? expectNoSecrets(scene, response) : 'the response may be sniffed or cached';
    },
  },
];

function expectBystanderUncalled(scene: Scene) {
  return requireOwn(scene).bystander.requests.length === 0 ? null : 'another server was called';
}

function rejectMethod(
  name: string,
  title: string,
  method: string,
  statuses: readonly number[],
): AttackCase {
  return {
    ...describe('admin', name, title),
    needs: 'token',
    attack: (scene) => expectRejected(scene, craftRequest(scene, { method }), { statuses }),
  };
}

function describe(attackClass: AttackClass, name: string, title: string) {
  return { id: `${attackClass}-${name}`, class: attackClass, title };
}

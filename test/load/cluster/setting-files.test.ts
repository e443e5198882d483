import { generateKeyPairSync, hash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { callers } from '../../support/caller-certificates.js';
import {
  countLines,
  listWorkers,
  TIMEOUT_MS,
  waitForLine,
} from '../../support/cluster/worker-log.js';
import { call } from '../../support/http/call.js';
import { describeModule, toRoutes } from '../../support/http/modules.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import {
  CONTRACT_URL,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../support/isolation/write-plugin.js';
import { createFolder } from '../../support/temporary-folder.js';
import { ask, startTlsProcess, type TlsHost } from '../../support/tls/tls-host.js';

const TOKEN = 'dev-service:ops:modgate.modules.read';
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEYS = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'ES256' }] };
const ISSUERS = {
  issuers: [
    {
      issuer: 'https://issuer.example',
      audience: 'modgate',
      algorithms: ['ES256'],
      jwks: { file: 'keys.json' },
      actor: { kind: 'service' },
    },
  ],
  introspection: [
    {
      name: 'opaque',
      url: 'https://issuer.example/introspect',
      client_id: 'modgate',
      client_secret: 'file:client-secret',
      actor: { kind: 'service' },
    },
  ],
};
const ENTRY = `import { defineAuthenticator, secretReference } from ${JSON.stringify(CONTRACT_URL)};
import { object } from ${JSON.stringify(SUPERSTRUCT_URL)};
const open = () => ({ authenticate: () => null });
const config = object({ password: secretReference() });
export default { adapters: [], authenticators: [defineAuthenticator({ name: 'ldap', config, open })] };`;

const NAMES = [
  ...['tokens.json', 'roles.json', 'issuers.json', 'keys.json', 'client-secret', 'password'],
  ...['callers.pem', 'clients.json', 'server.pem', 'server.key'],
];
const CALLS = 8;

describe('files of settings of a host with workers', () => {
  let host: TlsHost;

  before(async () => {
    const plugins = createFolder();
    const manifest = { kinds: undefined, authenticators: ['ldap'] };
    writePlugin(plugins, { name: 'acme', manifest, entry: ENTRY });
    const files = {
      'tokens.json': { tokens: [] },
      'roles.json': { roles: {} },
      'issuers.json': ISSUERS,
      'keys.json': KEYS,
      'client-secret': 'secret',
      password: 'secret',
      'callers.pem': callers,
      'clients.json': { clients: [] },
      'modgate.json': {
        authenticators: [
          'dev',
          'tokens',
          'issuers',
          { name: 'ldap', config: { password: 'file:password' } },
        ],
      },
    };
    host = await startTlsProcess(files, (path) => [
      ...['--workers', '2', '--config', path('modgate.json'), '--plugins', plugins],
      ...['--tokens', path('tokens.json'), '--roles', path('roles.json')],
      ...['--issuers', path('issuers.json'), '--tls-client-ca', path('callers.pem')],
      ...['--tls-clients', path('clients.json')],
    ]);
  });
  after(() => host.stopAll());

  /** The statuses of both workers: connections are distributed in turn. */
  const askAll = async (token: string) => {
    const calls = Array.from({ length: CALLS }, () => ask(host, '/modules', { token }));
    return [...new Set((await Promise.all(calls)).map(({ status }) => status))];
  };

  it('let a worker be replaced while all of them are invalid', async () => {
    for (const name of NAMES) host.write(name, '');
    const [victim = 0] = listWorkers(host);
    process.kill(victim, 'SIGKILL');
    await waitForLine(host, 'worker ready', 3);
    expect(await askAll(TOKEN)).to.deep.equal([200]);
  });

  it('are followed by the replacement', async () => {
    const tokens = [{ id: 'new', kind: 'system', scopes: [], sha256: hash('sha256', 'new-token') }];
    host.write('tokens.json', { tokens });
    await waitUntil(
      'every worker to take the new token',
      async () => (await askAll('new-token')).join() === '200',
      TIMEOUT_MS,
    );
  });
});

describe('files of modules of a host with workers', () => {
  const ROUTES = toRoutes(['GET /items'], 'use');
  const withConfig = (config: object) => ({ provider: { kind: 'http', config } });
  const setup = useHostProcess(
    ({ url }) => {
      const auth = { bearer: 'file:files/token' };
      const endpoints = { file: 'files/endpoints.json' };
      return {
        'a.json': describeModule('a', url, ROUTES, withConfig({ endpoints: [url], auth })),
        'b.json': describeModule('b', url, ROUTES, withConfig({ endpoints })),
        'files/token': 'secret',
        'files/endpoints.json': JSON.stringify([url]),
      };
    },
    { args: ['--workers', '2'] },
  );

  const replaceWorker = async () => {
    const [victim = 0] = listWorkers(setup.host);
    const count = countLines(setup.host, 'worker ready') + 1;
    process.kill(victim, 'SIGKILL');
    await waitForLine(setup.host, 'worker ready', count);
  };
  const expectServed = async () => {
    for (const module of ['a', 'b']) {
      const target = `/modules/${module}/http/items`;
      const calls = Array.from({ length: CALLS }, () => call(setup.host, { target }));
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses, module).to.deep.equal(Array(CALLS).fill(200));
    }
  };

  it('serve from a replaced worker while they are invalid', async () => {
    setup.host.remove('files/token');
    setup.host.drop('files/endpoints.json', '{');
    await waitForLine(setup.host, 'followed file is invalid; keeping the last good content', 2);
    await replaceWorker();
    await expectServed();
  });

  it('serve from a replaced worker while the folder is gone', async () => {
    const folder = join(setup.host.directory, 'modules.d');
    renameSync(folder, `${folder}.gone`);
    await waitForLine(setup.host, 'modules folder unavailable; serving the last loaded modules', 2);
    await replaceWorker();
    await expectServed();
    renameSync(`${folder}.gone`, folder);
    setup.host.drop('files/token', 'secret');
    setup.host.drop('files/endpoints.json', JSON.stringify([setup.provider.url]));
    const isLive = async () => {
      const { body } = await call(setup.host, { target: '/modules' });
      return !/"state":"(?:stale|waiting)"/.test(String(body));
    };
    await waitUntil('all modules to be live', isLive, TIMEOUT_MS);
    await expectServed();
  });
});

import { generateKeyPairSync, hash } from 'node:crypto';
import { expect } from 'chai';
import { callers } from '../../support/caller-certificates.js';
import { listWorkers, TIMEOUT_MS, waitForLine } from '../../support/cluster/worker-log.js';
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

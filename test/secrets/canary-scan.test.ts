import { hash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { askBridge, RELEASE, UI } from '../support/bridge/bridge.js';
import { server as certificate } from '../support/certificates.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { call } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createCanary, findCanaries } from '../support/secrets/canaries.js';
import { type HostProcess, startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';

const SCOPES = [
  ...['vault.use', 'vault.config', 'modgate.modules.read', 'modgate.calls.read'],
  ...['modgate.metrics.read', 'modgate.explain'],
];
const ROUTES = [
  ...['/modules', '/manifests', '/calls', '/plugins', '/metrics', '/livez', '/readyz'],
  ...['/.well-known/jwks.json', '/explain?method=GET&target=/modules/vault/http/items', '/nowhere'],
];

describe('secrets', () => {
  const secrets: Record<string, string> = {
    'env reference': createCanary('env'),
    'file reference': createCanary('file'),
    token: createCanary('token'),
    'wrong token': createCanary('wrong'),
    'sensitive value': createCanary('value'),
    'sensitive default': createCanary('default'),
    'rejected value': createCanary('refused'),
    'value in a bad descriptor': createCanary('descriptor'),
    'value in a bad tokens file': createCanary('tokens'),
    'client secret': createCanary('client'),
    'store key': randomBytes(32).toString('hex'),
    'password of the store': createCanary('dsn'),
    'bad store key': createCanary('key'),
  };
  const env = {
    VAULT_TOKEN: secrets['env reference'] ?? '',
    LOGIN_SECRET: secrets['client secret'] ?? '',
    MODGATE_STORE_KEY: secrets['store key'] ?? '',
  };
  /** All outputs of the host and the commands, by their source. */
  const outputs = new Map<string, string>();
  /** Everything that the provider received, which includes secrets. */
  let received = '';
  let folder: string;
  let provider: Server;
  let host: HostProcess;

  const get = async (target: string, as = secrets['token'] ?? '') => {
    const { status, headers, body } = await call(host, { target, as });
    outputs.set(`GET ${target} ${status}`, `${JSON.stringify(headers)}${body}`);
    return status;
  };
  const writeConfig = async (key: string, value: unknown) => {
    const { status, text } = await askBridge(host, {
      module: 'vault',
      permission: 'vault.config',
      token: secrets['token'] ?? '',
      payload: { operation: 'config_write', service: 'vault', key, value },
    });
    outputs.set(`config_write ${key} ${status}`, text);
    return status;
  };
  const run = async (...args: string[]) => {
    const { stdout, stderr, code } = await runModgate(args, env);
    outputs.set(args.slice(0, 2).join(' '), stdout + stderr);
    return code;
  };

  before(async () => {
    folder = createFolder();
    provider = createServer((request, response) => {
      request.setEncoding('utf8').on('data', (text) => {
        received += text;
      });
      request.on('end', () => {
        received += JSON.stringify(request.headers);
        response.statusCode = request.url === '/broken' ? 500 : 200;
        response.setHeader('content-type', 'application/json');
        const { authorization = '' } = request.headers;
        response.end(
          response.statusCode === 500 ? JSON.stringify({ authorization }) : '{"active":false}',
        );
      });
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const issuers = join(folder, 'issuers.json');
    const introspection = {
      ...{ name: 'login', url: `${url}/introspect`, client_id: 'modgate' },
      ...{ client_secret: 'env:LOGIN_SECRET', actor: { kind: 'service', id: 'client_id' } },
    };
    writeFileSync(issuers, JSON.stringify({ introspection: [introspection] }));
    host = await startHostProcess({
      dev: false,
      env,
      args: ['--env', 'production', '--log-level', 'trace', '--issuers', issuers],
      tokens: describeTokens(secrets['token'] ?? ''),
      files: {
        'safe-file': secrets['file reference'] ?? '',
        'vault.json': describeVault(url, { bearer: 'env:VAULT_TOKEN' }, secrets),
        'box.json': describeBox(url),
      },
    });
  });

  after(async () => {
    await host.kill();
    provider.closeAllConnections();
    await new Promise((resolve) => provider.close(resolve));
  });

  it('reach their provider', async () => {
    expect(await get('/modules/vault/http/items')).to.equal(200);
    expect(await get('/modules/box/http/items')).to.equal(200);
    expect(await writeConfig('api_key', secrets['sensitive value'])).to.equal(200);
    expect(await get('/modules/vault/http/items', secrets['wrong token'])).to.equal(401);
    await waitUntil('the delivery', () => received.includes(secrets['sensitive value'] ?? ''));
    const commandLine = ['env reference', 'file reference', 'sensitive value', 'wrong token'];
    expect(findCanaries(received, secrets)).to.include.members(commandLine);
  });

  it('do not appear in responses, logs, status files, metrics or commands, even after errors', async () => {
    expect(await get('/modules/vault/http/broken')).to.equal(502);
    expect(await writeConfig('size', secrets['rejected value'])).to.equal(400);
    host.drop('bad.json', {
      module: 'bad',
      provider: {
        kind: 'http',
        config: { endpoints: [7], auth: { bearer: secrets['value in a bad descriptor'] } },
      },
    });
    const tokens = join(host.directory, 'tokens.json');
    const bad = { tokens: [{ id: 'a', sha256: secrets['value in a bad tokens file'] }] };
    writeFileSync(tokens, JSON.stringify(bad));
    await waitUntil('the bad tokens file', () => host.output().includes('tokens file is invalid'));
    await waitUntil('the bad descriptor', () => host.output().includes('bad.json'));
    for (const route of ROUTES) await get(route);
    await runCommands();
    await host.stop();
    outputs.set('the log', host.output());
    expect(outputs.size).to.be.above(20);
    expect(outputs.get('the log')).to.include('"msg":"listening"');
    const leaks = [...outputs].map(
      ([where, text]) => [where, findCanaries(text, secrets)] as const,
    );
    expect(leaks.filter(([, places]) => places.length > 0)).to.deep.equal([]);
  });

  async function runCommands(): Promise<void> {
    const modules = join(host.directory, 'modules.d');
    const state = join(host.directory, 'state');
    const running = ['--url', host.url, '--token', secrets['token'] ?? ''];
    for (const name of readdirSync(join(modules, '.status'))) {
      outputs.set(`.status/${name}`, readFileSync(join(modules, '.status', name), 'utf8'));
    }
    const identity = readFileSync(join(state, 'identity/keys.json'), 'utf8');
    for (const [, key = ''] of identity.matchAll(/"d":"([^"]+)"/g)) secrets['identity key'] = key;
    expect(secrets).to.have.property('identity key');
    expect(await run('check', modules)).to.equal(1);
    expect(await run('status', ...running, '--json')).not.to.equal(2);
    expect(await run('explain', 'GET', '/modules/vault/http/items', ...running)).to.equal(0);
    expect(await run('grants', 'vault', '--modules', modules, '--json')).not.to.equal(2);
    expect(await run('audit', '--state', state, '--json')).to.equal(0);
    expect(outputs.get('audit --state')).to.include('config_write');
    await runBadStarts(modules);
  }

  /** Each exits with 1 or 2. */
  async function runBadStarts(modules: string): Promise<void> {
    const key = join(folder, 'server.key');
    const cert = join(folder, 'server.pem');
    writeFileSync(key, certificate.key.replace(/.{20}\n-----END/, '\n-----END'));
    writeFileSync(cert, certificate.cert);
    secrets['key of the listener'] = certificate.key.split('\n')[3] ?? 'none';
    const store = `postgres://modgate:${secrets['password of the store']}@127.0.0.1:99999/db`;
    const serve = ['serve', '--modules', modules, '--port', '0'];
    const starts: readonly (readonly [string[], Record<string, string>])[] = [
      [['--store', store], env],
      [['--tls-cert', cert, '--tls-key', key], env],
      [['--tokens', join(host.directory, 'tokens.json')], env],
      [[], { ...env, MODGATE_STORE_KEY: secrets['bad store key'] ?? '' }],
    ];
    for (const [index, [args, variables]] of starts.entries()) {
      const state = join(folder, `state-${index}`);
      const tokens = index === 2 ? [] : ['--tokens', writeTokens(folder)];
      const ended = await runModgate([...serve, '--state', state, ...tokens, ...args], variables);
      outputs.set(`bad start ${index}`, ended.stdout + ended.stderr);
      expect(ended.code, ended.stdout + ended.stderr).to.be.oneOf([1, 2]);
    }
  }
});

function writeTokens(folder: string): string {
  const path = join(folder, 'good-tokens.json');
  writeFileSync(path, JSON.stringify(describeTokens('another')));
  return path;
}

function describeTokens(token: string) {
  const owner = { id: 'owner', kind: 'service', scopes: SCOPES, sha256: hash('sha256', token) };
  return { tokens: [owner] };
}

function describeVault(url: string, auth: object, secrets: Readonly<Record<string, string>>) {
  const field = { service: 'vault', editable: true };
  const apiKey = { key: 'api_key', type: { kind: 'string' }, sensitive: true };
  return {
    module: 'vault',
    identity: true,
    provider: { kind: 'http', config: { endpoints: [url], auth } },
    records: { capture_bytes: 4096 },
    manifest: {
      inline: {
        ...describeManifest('vault'),
        config: {
          write_capability: 'vault.config',
          delivery_path: '/_config',
          fields: [
            { ...field, ...apiKey, default: secrets['sensitive default'] },
            { ...field, key: 'size', type: { kind: 'int', min: 1, max: 9 }, default: 1 },
          ],
        },
      },
    },
    console: { release: RELEASE, ui: [UI], grants: ['vault.config'] },
  };
}

function describeBox(url: string) {
  const auth = { bearer: 'file:./safe-file' };
  return {
    module: 'box',
    provider: { kind: 'http', config: { endpoints: [url], auth } },
    manifest: { inline: describeManifest('box') },
  };
}

function describeManifest(module: string) {
  return {
    protocol: 'modgate.manifest.v1',
    module_id: module,
    capabilities: ['vault.use', 'vault.config'],
    http_routes: ['/items', '/broken'].map((path) => ({
      method: 'GET',
      path,
      capability: 'vault.use',
    })),
  };
}

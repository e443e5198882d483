import { type ChildProcess, spawn } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FENCED_ADDRESS } from './cases/guard.js';
import {
  MOUNT_HOST,
  MOUNT_PATH,
  MOUNTED_MODULE,
  SHADOWED_PATH,
  SHADOWING_MODULE,
} from './cases/mounts.js';
import { authority, elsewhere, expired, here } from './certificates.js';
import { createRawModeScripts, RAW_BASE } from './raw-mode-scripts.js';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.js';
import { createResponseScripts, LARGE_RESPONSE_BYTES } from './response-scripts.js';
import { OWN_TOKENS, type OwnToken, type Scene } from './scene.js';
import { createTokenIssuer, describeIssuers, ROLES_FILE } from './signed-tokens.js';
import { USERS_MODULE, WEB_CONFIG_FILE, writeWebAccess } from './web-access.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
/** A start takes a second; a machine with many other processes needs far longer. */
const START_DEADLINE_MS = 60_000;
const UI = `sha256:${'1'.repeat(64)}`;
const RELEASE = `sha256:${'2'.repeat(64)}`;
/** A key that no certificate of the selftest has. */
const OTHER_PIN = Buffer.alloc(32, 3).toString('base64');
const CREDENTIAL_VARIABLE = 'SELFTEST_CREDENTIAL';

const SCOPES: Readonly<
  Record<OwnToken, { readonly kind: string; readonly scopes: readonly string[] }>
> = {
  owner: {
    kind: 'service',
    scopes: ['shop.use', 'modgate.modules.read', 'modgate.calls.read', 'modgate.metrics.read'],
  },
  stranger: { kind: 'service', scopes: [] },
  wildcard: { kind: 'service', scopes: ['*', 'shop.*', 'shop', 'SHOP.USE', 'shop.use.more'] },
  user: { kind: 'user', scopes: ['shop.use'] },
  admin: { kind: 'user', scopes: ['console.admin'] },
  explainer: { kind: 'service', scopes: ['modgate.explain'] },
  expired: { kind: 'service', scopes: ['shop.use'] },
};

/** Each of its bindings repeats the context of the console. */
const CONTRIBUTION = {
  target: 'selftest',
  label: 'Sync',
  action: {
    kind: 'admin_action',
    module: 'desk',
    name: 'sync',
    input_bindings: Array.from({ length: 100 }, (_, index) => ({
      input: `text_${index}`,
      value: { kind: 'slot_context', path: 'text' },
    })),
  },
};

/** The capabilities of an action, of reading and of writing the configuration, and of the routes. */
const DESK_GRANTS = ['desk.sync', 'desk.values', 'desk.config', 'shop.use'];

/** In each pair the first route is closed to `owner`, and the second must not stand for it. */
const PATH_ROUTES = [
  { method: 'GET', path: '/reports/', capability: 'shop.locked' },
  { method: 'GET', path: '/reports', capability: 'shop.use' },
  { method: 'GET', path: '/docs/secret.json', capability: 'shop.locked' },
  { method: 'GET', path: '/docs/{id}.json', capability: 'shop.use' },
  {
    method: 'GET',
    path: '/queues/{vhost}',
    capability: 'shop.use',
    operation: { encoded: ['vhost'] },
  },
];

/** References between them multiply at each step. */
const SHARED_SCHEMAS = {
  Item: {
    properties: { name: { type: 'string' }, next: { $ref: 'manifest:schemas/Item' } },
    if: { required: ['deep'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { $ref: 'manifest:schemas/Step0' },
  },
  ...Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `manifest:schemas/Step${index + 1}` };
      return [`Step${index}`, { allOf: [next, next] }];
    }),
  ),
  Step40: { type: 'object' },
};

const TLS = { tls: { ca: './authority.pem' } };
const CONFIGS: Readonly<Record<string, object>> = {
  shop: { auth: { bearer: `env:${CREDENTIAL_VARIABLE}` } },
  'tls-good': TLS,
  'tls-elsewhere': TLS,
  'tls-expired': TLS,
  'tls-old': TLS,
  'tls-pin': { tls: { ...TLS.tls, pin_sha256: OTHER_PIN } },
};

export interface OwnHost {
  readonly scene: Scene;
  /** URLs of the providers, by module. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** The output of the host so far. */
  output(): string;
  close(): Promise<void>;
}

/**
 * Starts a host in production, with its own modules in a temporary folder.
 * @throws an error with its output if it does not listen within 60 s.
 */
export async function startOwnHost(): Promise<OwnHost> {
  const secret = `selftest-secret-${randomBytes(16).toString('hex')}`;
  const credential = `selftest-credential-${randomBytes(16).toString('hex')}`;
  const tokens = createTokens();
  const issuer = createTokenIssuer();
  const directory = mkdtempSync(join(tmpdir(), 'modgate-selftest-'));
  const providers: RecordingProvider[] = [];
  const start = async (...options: Parameters<typeof startRecordingProvider>) => {
    const provider = await startRecordingProvider(...options);
    providers.push(provider);
    return provider;
  };
  let child: ChildProcess | null = null;
  const close = async () => {
    child?.kill('SIGKILL');
    await Promise.all(providers.map((provider) => provider.close()));
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const bystander = await start();
    const scripts = [...createResponseScripts(bystander.url, secret), ...createRawModeScripts()];
    const provider = await start(new Map(scripts));
    const good = await start(undefined, here);
    const introspection = await start(
      new Map([['/introspect', (_, response) => void response.end('{"active":false}')]]),
    );
    const endpoints = {
      shop: provider.url,
      desk: provider.url,
      fragile: provider.url,
      paths: provider.url,
      [MOUNTED_MODULE]: provider.url,
      [SHADOWING_MODULE]: provider.url,
      fenced: provider.url,
      raw: provider.url + RAW_BASE,
      // The port of the discard protocol, where nothing listens.
      down: 'http://127.0.0.1:9',
      'tls-good': good.url,
      'tls-unknown': good.url,
      'tls-pin': good.url,
      'tls-elsewhere': (await start(undefined, elsewhere)).url,
      'tls-expired': (await start(undefined, expired)).url,
      'tls-old': (
        await start(undefined, {
          ...here,
          minVersion: 'TLSv1',
          maxVersion: 'TLSv1.1',
          ciphers: 'DEFAULT@SECLEVEL=0',
        })
      ).url,
    };
    writeModules(directory, endpoints);
    writePlugins(directory, bystander.url);
    writeWebAccess(directory, describeManifest(USERS_MODULE), provider.url);
    const issuers = describeIssuers(`${introspection.url}/introspect`);
    writeFileSync(join(directory, 'tokens.json'), JSON.stringify(describeTokens(tokens)));
    writeFileSync(join(directory, 'issuers.json'), JSON.stringify(issuers));
    writeFileSync(join(directory, 'roles.json'), JSON.stringify(ROLES_FILE));
    writeFileSync(join(directory, 'client.secret'), credential, { mode: 0o600 });
    writeFileSync(join(directory, 'jwks.json'), JSON.stringify(issuer.jwks));
    const spawned = spawnHost(directory, { [CREDENTIAL_VARIABLE]: credential });
    child = spawned.child;
    const address = await spawned.listening;
    return {
      scene: {
        address,
        authority: `${address.host}:${address.port}`,
        base: '/modules/shop/http',
        route: '/items',
        token: tokens.owner,
        mark: 'selftest',
        lateChecks: [],
        own: {
          provider,
          bystander,
          tokens,
          issuer,
          introspection,
          secrets: [secret, credential],
          console: { release: RELEASE, ui: UI },
        },
      },
      endpoints,
      output: spawned.output,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function createTokens(): Record<OwnToken, string> {
  const entries = OWN_TOKENS.map((name) => [
    name,
    `own-${name}-${randomBytes(16).toString('hex')}`,
  ]);
  return Object.fromEntries(entries) as Record<OwnToken, string>;
}

function describeTokens(tokens: Readonly<Record<OwnToken, string>>) {
  return {
    tokens: OWN_TOKENS.map((name) => ({
      id: name,
      ...SCOPES[name],
      sha256: hash('sha256', tokens[name]),
      ...(name === 'expired' && { expires_at: '2020-01-01T00:00:00Z' }),
    })),
  };
}

function writeModules(directory: string, endpoints: Readonly<Record<string, string>>): void {
  const folder = join(directory, 'modules.d');
  mkdirSync(folder);
  writeFileSync(join(folder, 'authority.pem'), authority);
  for (const [module, url] of Object.entries(endpoints)) {
    const descriptor = {
      module,
      provider: { kind: 'http', config: { endpoints: [url], ...CONFIGS[module] } },
      manifest: { inline: describeManifest(module) },
      // The other modules keep serving whatever their provider sends.
      ...(module !== 'fragile' && { breaker: { failures: 1000 } }),
      ...(module === MOUNTED_MODULE && {
        mount: [{ path: MOUNT_PATH }, { host: MOUNT_HOST, path: '/' }],
      }),
      ...(module === SHADOWING_MODULE && { mount: [{ path: SHADOWED_PATH }] }),
      ...(module === 'fenced' && { allow: { addresses: [FENCED_ADDRESS] } }),
      ...(module === 'raw' && { responses: { mode: 'raw' } }),
      ...(module === 'desk' && {
        console: { release: RELEASE, ui: [UI], grants: DESK_GRANTS },
        limits: { response_bytes: LARGE_RESPONSE_BYTES },
      }),
    };
    writeFileSync(join(folder, `${module}.json`), JSON.stringify(descriptor));
  }
}

/** Writes two plugins with code outside their folder, and a module for each. The code calls the bystander. */
function writePlugins(directory: string, bystander: string): void {
  writeFileSync(join(directory, 'outside.mjs'), `await fetch('${bystander}/outside');\n`);
  const entries = { linked: 'index.mjs', dotted: '../../outside.mjs' };
  for (const [name, entry] of Object.entries(entries)) {
    const folder = join(directory, 'plugins', name);
    mkdirSync(folder, { recursive: true });
    const plugin = { name, version: '1.0.0', contract: 1, kinds: [name], entry };
    writeFileSync(join(folder, 'plugin.json'), JSON.stringify(plugin));
    const descriptor = {
      module: name,
      provider: { kind: name, config: {} },
      manifest: { inline: describeManifest(name) },
    };
    writeFileSync(join(directory, 'modules.d', `${name}.json`), JSON.stringify(descriptor));
  }
  symlinkSync(join(directory, 'outside.mjs'), join(directory, 'plugins', 'linked', 'index.mjs'));
}

function describeManifest(module: string) {
  const route = (method: string, path: string, capability = 'shop.use') => ({
    method,
    path,
    capability,
  });
  return {
    protocol: 'modgate.manifest.v1',
    module_id: module,
    capabilities: [...DESK_GRANTS, 'shop.locked', 'desk.other'],
    http_routes: [
      route('GET', '/items'),
      route('POST', '/items'),
      route('GET', '/items/{id}'),
      route('DELETE', '/items/{id}'),
      route('GET', '/files/{path...}'),
      route('GET', '/answers/{kind}'),
      route('GET', '/locked', 'shop.locked'),
      route('POST', '/locked', 'shop.locked'),
      route('DELETE', '/locked', 'shop.locked'),
      {
        ...route('POST', '/described'),
        operation: { input_schema: { items: { $ref: 'manifest:schemas/Item' } } },
      },
      ...(module === 'paths' ? PATH_ROUTES : []),
    ],
    schemas: SHARED_SCHEMAS,
    admin: {
      actions: [{ name: 'sync', label: 'Sync', capability: 'desk.sync', invoke_path: '/items' }],
    },
    ...(module === 'desk' && { console_contributions: [CONTRIBUTION] }),
    config: {
      read_capability: 'desk.values',
      write_capability: 'desk.config',
      fields: [
        {
          service: module,
          key: 'size',
          type: { kind: 'int', min: 1, max: 9 },
          default: 1,
          editable: true,
        },
        {
          service: module,
          key: 'secret',
          type: { kind: 'string' },
          editable: true,
          sensitive: true,
        },
      ],
    },
  };
}

interface SpawnedHost {
  readonly child: ChildProcess;
  readonly listening: Promise<{ host: string; port: number }>;
  output(): string;
}

function spawnHost(directory: string, variables: Readonly<Record<string, string>>): SpawnedHost {
  const args = [
    ...['serve', '--env', 'production', '--host', '127.0.0.1', '--port', '0'],
    ...['--modules', join(directory, 'modules.d'), '--state', join(directory, 'state')],
    ...['--config', join(directory, WEB_CONFIG_FILE)],
    ...['--tokens', join(directory, 'tokens.json'), '--roles', join(directory, 'roles.json')],
    ...['--issuers', join(directory, 'issuers.json'), '--plugins', join(directory, 'plugins')],
  ];
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const listening = new Promise<{ host: string; port: number }>((resolve, reject) => {
    const fail = () => reject(new Error(`the host did not start: ${output.slice(-2000)}`));
    const timer = setTimeout(fail, START_DEADLINE_MS);
    const read = (text: string) => {
      output += text;
      const url = /"url":"(https?:[^"]+)"/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve({ host: new URL(url).hostname, port: Number(new URL(url).port) });
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.once('exit', fail);
  });
  return { child, listening, output: () => output };
}

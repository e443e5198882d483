import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOOLS_MODULE } from './cases/agents.js';
import { CACHE_ROUTES, CACHING_MODULE } from './cases/cache.js';
import { COPIED_MODULES, describeCopiedModule } from './cases/candidate.js';
import { FENCED_ADDRESS, PUBLIC_MODULE } from './cases/guard.js';
import {
  MOUNT_HOST,
  MOUNT_PATH,
  MOUNTED_MODULE,
  SHADOWED_PATH,
  SHADOWING_MODULE,
} from './cases/mounts.js';
import { describeNamedModule } from './cases/names.js';
import { COSTLY_SCHEMA } from './cases/neighbors.js';
import { ECHOING_MODULE, REFUSED_MODULE } from './cases/provider.js';
import { authority } from './certificates.js';
import { describeExchange, EXCHANGING_MODULE, REDIRECTED_MODULE } from './exchange-server.js';
import { LONG_LIMITS, LONG_MODULE, LONG_ROUTES } from './long-body-scripts.js';
import { LARGE_RESPONSE_BYTES } from './response-scripts.js';
import { TOKEN_ISSUER } from './signed-tokens.js';
import {
  SLOW_STREAM_MODULE,
  STREAM_LIMITS,
  STREAM_MODULE,
  STREAM_ROUTES,
} from './stream-scripts.js';
import { SOCKET_LIMITS, SOCKET_ROUTES } from './websocket-scripts.js';

const UI = `sha256:${'1'.repeat(64)}`;
const RELEASE = `sha256:${'2'.repeat(64)}`;
/** The console of the module `desk`, for the bridge. */
export const DESK_CONSOLE = { release: RELEASE, ui: UI };
/** A key that does not belong to a certificate of the selftest. */
const OTHER_PIN = Buffer.alloc(32, 3).toString('base64');
/** The variable with the credential for the providers. */
export const CREDENTIAL_VARIABLE = 'SELFTEST_CREDENTIAL';

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

/** The first route of each pair is closed to `owner`; the second must not grant access to it. */
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

const CREDENTIAL = { auth: { bearer: `env:${CREDENTIAL_VARIABLE}` } };
const TLS = { tls: { ca: './authority.pem' } };
const CONFIGS: Readonly<Record<string, object>> = {
  shop: CREDENTIAL,
  [ECHOING_MODULE]: CREDENTIAL,
  ...Object.fromEntries(COPIED_MODULES.map((module) => [module, CREDENTIAL])),
  'tls-good': TLS,
  'tls-elsewhere': TLS,
  'tls-expired': TLS,
  'tls-old': TLS,
  'tls-pin': { tls: { ...TLS.tls, pin_sha256: OTHER_PIN } },
};

/** The servers besides the providers. */
interface Servers {
  /** `127.0.0.1:5353` */
  readonly dns: string;
  readonly candidate: string;
}

/** Writes `modules.d` with a descriptor for each endpoint, and one that the host rejects. */
export function writeModules(
  directory: string,
  endpoints: Readonly<Record<string, string>>,
  password: string,
  servers: Servers = { dns: '', candidate: '' },
): void {
  writeDescriptors(directory, endpoints, servers);
  const refused = {
    kind: 'http',
    config: { endpoints: [`http://selftest:${password}@127.0.0.1`] },
  };
  writeDescriptor(directory, { module: REFUSED_MODULE, provider: refused });
}

function writeDescriptors(
  directory: string,
  endpoints: Readonly<Record<string, string>>,
  { dns, candidate }: Servers,
): void {
  const folder = join(directory, 'modules.d');
  mkdirSync(folder);
  writeFileSync(join(folder, 'authority.pem'), authority);
  for (const [module, url] of Object.entries(endpoints)) {
    const config = describeNamedModule(module, url, dns) ?? {
      endpoints: [url],
      ...configOf(module, url),
    };
    const descriptor = {
      module,
      provider: { kind: 'http', config },
      manifest: { inline: describeManifest(module) },
      // The other modules keep serving regardless of the responses of their provider.
      ...(module !== 'fragile' && { breaker: { failures: 1000 } }),
      ...(module === MOUNTED_MODULE && {
        mount: [{ path: MOUNT_PATH }, { host: MOUNT_HOST, path: '/' }],
      }),
      ...(module === SHADOWING_MODULE && { mount: [{ path: SHADOWED_PATH }] }),
      ...(module === EXCHANGING_MODULE && { provider_errors: 'passthrough' }),
      ...(module === ECHOING_MODULE && {
        provider_errors: 'passthrough',
        records: { capture_bytes: 4096 },
      }),
      ...describeCopiedModule(module, candidate),
      ...(module === PUBLIC_MODULE && { public: true }),
      ...(module === TOOLS_MODULE && { callers: ['service', 'user'], mcp: { expose: 'all' } }),
      ...(module === 'fenced' && { allow: { addresses: [FENCED_ADDRESS] } }),
      ...(isStreaming(module) && { limits: STREAM_LIMITS }),
      ...(module === LONG_MODULE && { limits: LONG_LIMITS }),
      ...(module in SOCKET_LIMITS && { limits: SOCKET_LIMITS[module] }),
      ...(module === 'raw' && { responses: { mode: 'raw' } }),
      ...(module === 'desk' && {
        console: { release: RELEASE, ui: [UI], grants: DESK_GRANTS },
        // A slow client occupies the whole budget.
        limits: { response_bytes: LARGE_RESPONSE_BYTES, hold_bytes: LARGE_RESPONSE_BYTES },
      }),
    };
    writeDescriptor(directory, descriptor);
  }
}

function configOf(module: string, url: string): object | undefined {
  if (module === EXCHANGING_MODULE) return { auth: describeExchange(url, '/token', TOKEN_ISSUER) };
  if (module !== REDIRECTED_MODULE) return CONFIGS[module];
  return { auth: describeExchange(url, '/redirect', TOKEN_ISSUER) };
}

function isStreaming(module: string): boolean {
  return module === STREAM_MODULE || module === SLOW_STREAM_MODULE;
}

interface Descriptor {
  readonly module: string;
  readonly [member: string]: unknown;
}

function writeDescriptor(directory: string, descriptor: Descriptor): void {
  const path = join(directory, 'modules.d', `${descriptor.module}.json`);
  writeFileSync(path, JSON.stringify(descriptor));
}

/** Writes two plugins with code outside their folder, and a module for each. The code calls the bystander. */
export function writePlugins(directory: string, bystander: string): void {
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
    writeDescriptor(directory, descriptor);
  }
  symlinkSync(join(directory, 'outside.mjs'), join(directory, 'plugins', 'linked', 'index.mjs'));
}

export function describeManifest(module: string) {
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
      { ...route('GET', '/public', 'shop.locked'), access: 'public' },
      { ...route('POST', '/costly'), operation: { input_schema: COSTLY_SCHEMA } },
      ...(module === 'paths' ? PATH_ROUTES : []),
      ...(module === CACHING_MODULE ? CACHE_ROUTES : []),
      ...(isStreaming(module) ? STREAM_ROUTES : []),
      ...(module === LONG_MODULE ? LONG_ROUTES : []),
      ...(module in SOCKET_LIMITS ? SOCKET_ROUTES : []),
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

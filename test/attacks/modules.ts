import { createBrokerModule } from './cases/broker.js';
import { CACHE_MODULES } from './cases/cache.js';
import { createCopiedModules } from './cases/candidate.js';
import { createExchangingModules } from './cases/exchange.js';
import { LONG_MODULES } from './cases/long-bodies.js';
import { MOUNT_MODULES } from './cases/mounts.js';
import { createNamedModules } from './cases/names.js';
import { createRawModules } from './cases/raw-mode.js';
import { STREAM_MODULES } from './cases/streams.js';
import { createToolModule } from './cases/tools.js';
import { CREDENTIAL_VARIABLE, type OwnModule, type OwnModules } from './scene.js';
import { LARGE_RESPONSE_BYTES } from './servers/response-scripts.js';
import { createSocketModules } from './servers/websocket-scripts.js';

/** The console of the module `desk`, for the bridge. */
export const DESK_CONSOLE = {
  release: `sha256:${'2'.repeat(64)}`,
  ui: `sha256:${'1'.repeat(64)}`,
};
/** A key that does not belong to a certificate of the providers. */
const OTHER_PIN = Buffer.alloc(32, 3).toString('base64');
/** The only address that may call the module `fenced`; no attack comes from it. */
export const FENCED_ADDRESS = '192.0.2.1';

const CREDENTIAL = { auth: { bearer: `env:${CREDENTIAL_VARIABLE}` } };
const TLS = { tls: { ca: './authority.pem' } };

/** The capabilities of an action, of reading and of writing the configuration, and of the routes. */
const DESK_GRANTS = ['desk.sync', 'desk.values', 'desk.config', 'shop.use'];

/** Each of its bindings repeats the context of the console. */
const CONTRIBUTION = {
  target: 'selftest',
  label: 'Sync',
  action: {
    ...{ kind: 'admin_action', module: 'desk', name: 'sync' },
    input_bindings: Array.from({ length: 100 }, (_, index) => ({
      input: `text_${index}`,
      value: { kind: 'slot_context', path: 'text' },
    })),
  },
};

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

/** Each item is checked 500 times, which would block an event loop for a second. */
const COSTLY_SCHEMA = {
  items: { allOf: Array.from({ length: 500 }, () => ({ type: 'number' })) },
};

const route = (text: string, capability = 'shop.use', operation: object = {}) => {
  const [method, path] = text.split(' ');
  return { method, path, capability, operation };
};

/** The first route of each pair is closed to `owner`; the second must not grant access to it. */
const PATH_ROUTES = [
  route('GET /reports/', 'shop.locked'),
  route('GET /reports'),
  route('GET /docs/secret.json', 'shop.locked'),
  route('GET /docs/{id}.json'),
  route('GET /queues/{vhost}', 'shop.use', { encoded: ['vhost'] }),
];

/** Their paths are also those of arguments of other tools; each call of them waits for approval. */
const NEIGHBOR_ROUTES = ['/items/all', '/files/all', '/files/{folder}/raw'].map((path) =>
  route(`GET ${path}`, 'shop.use', { danger_level: 'high' }),
);

/** The URLs of servers. */
interface Servers {
  readonly provider: string;
  readonly sockets: string;
  readonly candidate: string;
  /** Providers with certificates: for this address, for another name, expired, and with TLS 1.1 at most. */
  readonly tls: Readonly<Record<'here' | 'elsewhere' | 'expired' | 'old', string>>;
  /** The endpoints that exchange tokens; the second one redirects. */
  readonly tokenEndpoints: readonly [string, string];
  /** An MCP server. */
  readonly toolServer: string;
  /** The port of an AMQP broker. */
  readonly broker: number;
  /** `127.0.0.1:5353` */
  readonly dns: string;
}

/** The modules by name. */
export function createModules(servers: Servers): OwnModules {
  const { provider, sockets, candidate, tls, tokenEndpoints, dns, toolServer, broker } = servers;
  return {
    shop: { config: CREDENTIAL },
    desk: {
      console: {
        ...{ release: DESK_CONSOLE.release, ui: [DESK_CONSOLE.ui] },
        grants: DESK_GRANTS,
      },
      // A slow client occupies the whole budget.
      limits: { response_bytes: LARGE_RESPONSE_BYTES, hold_bytes: LARGE_RESPONSE_BYTES },
    },
    // The other modules keep serving regardless of the responses of their provider.
    fragile: { breaker: undefined },
    paths: { routes: PATH_ROUTES },
    fenced: { allow: { addresses: [FENCED_ADDRESS] } },
    users: { callers: ['user'] },
    // In this module the route `/public` needs no credentials.
    open: { public: true },
    tools: { callers: ['service', 'user'], mcp: { expose: 'all' }, routes: NEIGHBOR_ROUTES },
    // Its provider repeats its credential; errors and bodies are forwarded and recorded.
    echoing: {
      config: CREDENTIAL,
      ...{ provider_errors: 'passthrough', records: { capture_bytes: 4096 } },
    },
    toolbox: createToolModule(toolServer),
    queue: createBrokerModule(broker),
    ...MOUNT_MODULES,
    ...CACHE_MODULES,
    ...STREAM_MODULES,
    ...LONG_MODULES,
    ...createCopiedModules(candidate, CREDENTIAL),
    ...createExchangingModules(tokenEndpoints),
    ...createSocketModules(sockets),
    ...createRawModules(provider),
    ...createNamedModules(dns, provider, tls.elsewhere),
    // The port of the discard protocol, where nothing listens.
    down: { url: 'http://127.0.0.1:9' },
    'tls-good': { url: tls.here, config: TLS },
    'tls-unknown': { url: tls.here },
    'tls-pin': { url: tls.here, config: { tls: { ...TLS.tls, pin_sha256: OTHER_PIN } } },
    'tls-elsewhere': { url: tls.elsewhere, config: TLS },
    'tls-expired': { url: tls.expired, config: TLS },
    'tls-old': { url: tls.old, config: TLS },
  };
}

/** A descriptor for the module. @param provider the default of its URL */
export function describeModule(
  module: string,
  { url, config, routes = [], ...members }: OwnModule,
  provider: string,
): object {
  return {
    module,
    provider: { kind: 'http', config: { endpoints: [url ?? provider], ...config } },
    manifest: { inline: describeManifest(module, routes) },
    breaker: { failures: 1000 },
    ...members,
  };
}

export function describeManifest(module: string, routes: readonly object[] = []): object {
  const field = (key: string, type: object, more: object) => {
    return { service: module, key, type, editable: true, ...more };
  };
  return {
    protocol: 'modgate.manifest.v1',
    module_id: module,
    capabilities: [...DESK_GRANTS, 'shop.locked', 'desk.other'],
    http_routes: [
      ...['GET /items', 'POST /items', 'GET /items/{id}', 'DELETE /items/{id}'].map((text) =>
        route(text),
      ),
      ...['GET /files/{path...}', 'GET /answers/{kind}'].map((text) => route(text)),
      ...['GET', 'POST', 'DELETE'].map((method) => route(`${method} /locked`, 'shop.locked')),
      route('POST /described', 'shop.use', {
        input_schema: { items: { $ref: 'manifest:schemas/Item' } },
      }),
      route('POST /costly', 'shop.use', { input_schema: COSTLY_SCHEMA }),
      { ...route('GET /public', 'shop.locked'), access: 'public' },
      ...routes,
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
        field('size', { kind: 'int', min: 1, max: 9 }, { default: 1 }),
        field('secret', { kind: 'string' }, { sensitive: true }),
      ],
    },
  };
}

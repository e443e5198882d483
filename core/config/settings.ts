import { MAX_TIMER_MS } from '../contract/whole-number.js';
import { LOG_LEVELS } from '../log/logger.js';
import { authenticatorList } from './authenticator-list.js';
import { cors } from './cors.js';
import { pluginList } from './plugin-list.js';
import {
  address,
  addressRanges,
  approvalRules,
  bytes,
  choice,
  integer,
  modulesSource,
  onOff,
  origin,
  path,
  plainName,
  rate,
  redisUrl,
  referencePatterns,
  type SettingKind,
  share,
  storeUrl,
  tokenHeader,
  workerCount,
} from './setting-kind.js';
import { surfaceList } from './surface-list.js';

/**
 * - `off`: the files of plugins are not checked
 * - `warn`: a plugin that `enforce` would reject is logged and used
 * - `enforce`: a plugin is used only if each of its files has the expected digest
 */
const INTEGRITY_POLICIES = ['off', 'warn', 'enforce'] as const;

interface Setting<T = unknown> {
  readonly kind: SettingKind<T>;
  /** The default as text, so that it is parsed like any other; absent for none. */
  readonly default?: string;
  readonly unit?: string;
  readonly help: string;
}

/** A smaller budget would reject ordinary calls. */
const MIN_BUDGET_BYTES = 65_536;
/** Each worker has its own connections to every provider, and 60 MiB of memory. */
const MAX_WORKERS = 64;

/** The one declaration of settings: types, flags, variables, file, help and docs. */
const DECLARED = {
  modules: {
    kind: modulesSource,
    default: 'modules.d',
    help: 'folder of descriptors, one module per file; store: follows the releases of the store',
  },
  plugins: {
    kind: pluginList,
    help: 'folder of plugins, or an npm package such as @acme/x',
  },
  pluginIntegrity: {
    kind: choice('policy', INTEGRITY_POLICIES),
    default: 'warn',
    help: 'what to do with plugins whose files do not have the expected digests: off, warn or enforce',
  },
  pluginDigests: {
    kind: path('file'),
    help: 'file of the digests that the files of plugins must have; by default those of plugin.json',
  },
  state: {
    kind: path('dir'),
    default: '.modgate',
    help: 'folder for persistent data',
  },
  store: {
    kind: storeUrl,
    help: 'store of config values and the audit; by default a file in the state folder',
  },
  fleet: {
    kind: plainName,
    help: 'fleet that this host belongs to, with the hosts of the same store; requires a store of PostgreSQL',
  },
  releaseReferences: {
    kind: referencePatterns,
    help: 'references that a release may use, such as env:CRM_TOKEN, file:/run/secrets/*, socket:/run/crm.sock or command:node; default: none',
  },
  redis: {
    kind: redisUrl,
    help: 'Redis or Valkey, which counts the rates that hosts share (rate.shared)',
  },
  host: {
    kind: address,
    default: '127.0.0.1',
    help: 'address to listen on',
  },
  port: {
    kind: integer(0, 65_535),
    default: '3000',
    help: 'port to listen on; 0 selects a free one',
  },
  env: {
    kind: choice('name', ['development', 'production']),
    default: 'production',
    help: 'production, or development, which accepts dev tokens, on loopback only',
  },
  tokens: {
    kind: path('file'),
    help: 'file of bearer tokens by their sha-256; reloaded when it changes',
  },
  tokenHeader: {
    kind: tokenHeader,
    help: 'header that holds a token of the tokens file as well as authorization, such as x-api-key',
  },
  tokenBasic: {
    kind: onOff,
    default: 'false',
    help: 'accept a token as the password of authorization: Basic, for clients that can send nothing else',
  },
  issuers: {
    kind: path('file'),
    help: 'file of the issuers of tokens (JWT, introspection); reloaded when it changes',
  },
  roles: {
    kind: path('file'),
    help: 'file of roles, which stand for scopes; reloaded when it changes',
  },
  authenticators: {
    kind: authenticatorList,
    help: 'chain of authenticators by name; by default all that are configured',
  },
  approvals: {
    kind: approvalRules,
    help: 'who decides about requests for approval; self: users may decide about their own',
  },
  surfaces: {
    kind: surfaceList,
    help: 'surfaces to switch on, or off with a minus; by default console and docs are on',
  },
  allowDevAuthAnywhere: {
    kind: onOff,
    default: 'false',
    help: 'accept dev tokens from other machines: every client can then be any actor',
  },
  publicUrl: {
    kind: origin,
    help: 'origin under which clients reach the host, such as https://gateway.example',
  },
  trustedProxies: {
    kind: addressRanges,
    help: 'addresses of proxies whose x-forwarded-for names the client, such as 10.0.0.0/8',
  },
  cors: {
    kind: cors,
    help: 'origins of web pages that may call modules; in a file also with headers and credentials',
  },
  tlsCert: {
    kind: path('file'),
    help: 'certificate of the listener, PEM with its chain; reloaded when it changes',
  },
  tlsKey: {
    kind: path('file'),
    help: 'key of the certificate, PEM without a passphrase',
  },
  tlsClientCa: {
    kind: path('file'),
    help: 'authorities of client certificates, PEM',
  },
  tlsClients: {
    kind: path('file'),
    help: 'file that maps client certificates to actors; reloaded when it changes',
  },
  headTimeoutMs: {
    kind: integer(1, MAX_TIMER_MS),
    default: '10000',
    unit: 'ms',
    help: 'time for the head of a request, and for a TLS handshake',
  },
  bodyTimeoutMs: {
    kind: integer(1, MAX_TIMER_MS),
    default: '10000',
    unit: 'ms',
    help: 'longest pause within a request body',
  },
  requestTimeoutMs: {
    kind: integer(1, MAX_TIMER_MS),
    default: '60000',
    unit: 'ms',
    help: 'time for a whole request to arrive',
  },
  sendTimeoutMs: {
    kind: integer(1, MAX_TIMER_MS),
    default: '60000',
    unit: 'ms',
    help: 'close the connection if the client reads nothing for this long',
  },
  idleTimeoutMs: {
    kind: integer(1, MAX_TIMER_MS),
    default: '65000',
    unit: 'ms',
    help: 'time to keep a connection open between requests',
  },
  maxHeaders: {
    kind: integer(1),
    default: '2048',
    unit: 'headers',
    help: 'headers of a request; their size is limited to 16 KiB',
  },
  maxConnections: {
    kind: integer(1),
    default: '10000',
    unit: 'connections',
    help: 'connections at the same time; one more is closed at once',
  },
  maxRequestsPerConnection: {
    kind: integer(1),
    default: '10000',
    unit: 'requests',
    help: 'requests after which a connection is closed',
  },
  actorRate: {
    kind: rate,
    default: '0',
    unit: 'requests/s',
    help: 'limit for each actor; 0 is no limit',
  },
  actorBurst: {
    kind: integer(0, 1_000_000),
    default: '0',
    unit: 'requests',
    help: 'requests of an actor at once; 0 is as many as per second',
  },
  authFailures: {
    kind: integer(0, 1_000_000),
    default: '0',
    unit: 'credentials',
    help: 'rejected credentials of one address in a minute; new ones are then 429; 0 is no limit',
  },
  identityRotationHours: {
    kind: integer(1, 8784),
    default: '720',
    unit: 'hours',
    help: 'lifetime of a key that signs modgate-identity',
  },
  drainMs: {
    kind: integer(0, MAX_TIMER_MS),
    default: '10000',
    unit: 'ms',
    help: 'time for requests in flight to finish after a SIGTERM',
  },
  drainDelayMs: {
    kind: integer(0, MAX_TIMER_MS),
    default: '0',
    unit: 'ms',
    help: 'time to accept requests after a SIGTERM, while /readyz answers 503',
  },
  logLevel: {
    kind: choice('level', LOG_LEVELS),
    default: 'info',
    help: `lowest level to log: ${LOG_LEVELS.join(', ')}`,
  },
  logSuccessSample: {
    kind: share,
    default: '1',
    help: 'share of successful requests to log; failures are always logged',
  },
  statusFiles: {
    kind: choice('on|off', ['on', 'off']),
    default: 'on',
    help: 'whether to write the state of each descriptor to .status/ in the modules folder',
  },
  keepCalls: {
    kind: integer(0, 1_000_000),
    default: '0',
    unit: 'calls',
    help: 'most calls kept in the store; with 0 only the last 10,000, in memory',
  },
  keepCallsHours: {
    kind: integer(1, 87_600),
    default: '168',
    unit: 'hours',
    help: 'how long to keep calls in the store',
  },
  maxInFlight: {
    kind: integer(1),
    default: '4096',
    unit: 'requests',
    help: 'forwarded requests at the same time; one more is rejected as overloaded',
  },
  shedDelayMs: {
    kind: integer(1, MAX_TIMER_MS),
    default: '250',
    unit: 'ms',
    help: 'event-loop delay above which forwarded requests are rejected as overloaded',
  },
  memoryBudget: {
    kind: bytes(MIN_BUDGET_BYTES),
    default: '128MiB',
    help: 'request and response bodies held at the same time; divided by the workers',
  },
  actorBudget: {
    kind: bytes(MIN_BUDGET_BYTES),
    help: 'the same for one actor, unless it has a single request; by default a quarter',
  },
  cacheBytes: {
    kind: bytes(0),
    default: '64MiB',
    help: 'responses that each process keeps for routes with a cache; 0 keeps none',
  },
  workers: {
    kind: workerCount(MAX_WORKERS),
    help: 'processes that share the port, auto: one per core; by default a single process',
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof DECLARED;

type Value<S> = S extends { kind: SettingKind<infer T> }
  ? T | (S extends { default: string } ? never : null)
  : never;

/** The validated configuration of a host, all paths absolute; `null` for an unset value. */
export type HostConfig = { readonly [Name in SettingName]: Value<(typeof DECLARED)[Name]> };

export type IntegrityPolicy = HostConfig['pluginIntegrity'];

export const SETTINGS: {
  readonly [Name in SettingName]: Setting & (typeof DECLARED)[Name];
} = DECLARED;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** The name in the configuration file: `drain-ms`. */
export function settingKey(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `--drain-ms` */
export function settingFlag(name: string): string {
  return `--${settingKey(name)}`;
}

/** `MODGATE_DRAIN_MS` */
export function settingVariable(name: string): string {
  return `MODGATE_${settingKey(name).replaceAll('-', '_').toUpperCase()}`;
}

import { MAX_TIMER_MS } from '../lib/promises.js';
import { LOG_LEVELS } from '../log/logger.js';
import { authenticatorList } from './authenticator-list.js';
import { cors } from './cors.js';
import { ENVIRONMENTS, type HostConfig, INTEGRITY_POLICIES } from './host-config.js';
import { origin } from './origin.js';
import { pluginList } from './plugin-list.js';
import {
  address,
  bytes,
  choice,
  integer,
  onOff,
  path,
  rate,
  type SettingKind,
  share,
  storeUrl,
  workerCount,
} from './setting-kind.js';
import { surfaceList } from './surface-list.js';
import { tokenHeader } from './token-header.js';

export type SettingName = keyof HostConfig;

interface Setting<T> {
  readonly kind: SettingKind<NonNullable<T>>;
  /** As text, so that it is parsed like any other. */
  readonly default: null extends T ? null : string;
  readonly unit: string | null;
  readonly help: string;
}

/** Less would reject ordinary calls. */
const MIN_BUDGET_BYTES = 65_536;
/** Each worker has its own connections to every provider, and 60 MiB of memory. */
const MAX_WORKERS = 64;

/** The source of flags, variables, configuration file, help and docs. */
export const SETTINGS: { readonly [Name in SettingName]: Setting<HostConfig[Name]> } = {
  modules: {
    kind: path('dir'),
    default: 'modules.d',
    unit: null,
    help: 'folder of descriptors, one module per file',
  },
  plugins: {
    kind: pluginList,
    default: null,
    unit: null,
    help: 'folder of plugins, or an npm package such as @acme/x',
  },
  pluginIntegrity: {
    kind: choice('policy', INTEGRITY_POLICIES),
    default: 'warn',
    unit: null,
    help: 'what to do with plugins whose files do not have the expected digests: off, warn or enforce',
  },
  pluginDigests: {
    kind: path('file'),
    default: null,
    unit: null,
    help: 'file of the digests that the files of plugins must have; by default those of plugin.json',
  },
  state: {
    kind: path('dir'),
    default: '.modgate',
    unit: null,
    help: 'folder for persistent data',
  },
  store: {
    kind: storeUrl,
    default: null,
    unit: null,
    help: 'store of config values and the audit; by default a file in the state folder',
  },
  host: {
    kind: address,
    default: '127.0.0.1',
    unit: null,
    help: 'address to listen on',
  },
  port: {
    kind: integer(0, 65_535),
    default: '3000',
    unit: null,
    help: 'port to listen on; 0 selects a free one',
  },
  env: {
    kind: choice('name', ENVIRONMENTS),
    default: 'production',
    unit: null,
    help: 'production, or development, which accepts dev tokens, on loopback only',
  },
  tokens: {
    kind: path('file'),
    default: null,
    unit: null,
    help: 'file of bearer tokens by their sha-256; reloaded when it changes',
  },
  tokenHeader: {
    kind: tokenHeader,
    default: null,
    unit: null,
    help: 'header that holds a token of the tokens file as well as authorization, such as x-api-key',
  },
  issuers: {
    kind: path('file'),
    default: null,
    unit: null,
    help: 'file of the issuers of tokens (JWT, introspection); reloaded when it changes',
  },
  authenticators: {
    kind: authenticatorList,
    default: null,
    unit: null,
    help: 'chain of authenticators by name; by default all that are configured',
  },
  surfaces: {
    kind: surfaceList,
    default: null,
    unit: null,
    help: 'surfaces to switch on, or off with a minus; by default console and docs are on',
  },
  allowDevAuthAnywhere: {
    kind: onOff,
    default: 'false',
    unit: null,
    help: 'accept dev tokens from other machines: every client can then be any actor',
  },
  publicUrl: {
    kind: origin,
    default: null,
    unit: null,
    help: 'origin under which clients reach the host, such as https://gateway.example',
  },
  cors: {
    kind: cors,
    default: null,
    unit: null,
    help: 'origins of web pages that may call modules; in a file also with headers and credentials',
  },
  tlsCert: {
    kind: path('file'),
    default: null,
    unit: null,
    help: 'certificate of the listener, PEM with its chain; reloaded when it changes',
  },
  tlsKey: {
    kind: path('file'),
    default: null,
    unit: null,
    help: 'key of the certificate, PEM without a passphrase',
  },
  tlsClientCa: {
    kind: path('file'),
    default: null,
    unit: null,
    help: 'authorities of client certificates, PEM',
  },
  tlsClients: {
    kind: path('file'),
    default: null,
    unit: null,
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
    unit: null,
    help: `lowest level to log: ${LOG_LEVELS.join(', ')}`,
  },
  logSuccessSample: {
    kind: share,
    default: '1',
    unit: null,
    help: 'share of successful requests to log; failures are always logged',
  },
  statusFiles: {
    kind: choice('on|off', ['on', 'off']),
    default: 'on',
    unit: null,
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
    unit: null,
    help: 'request and response bodies held at the same time; divided by the workers',
  },
  actorBudget: {
    kind: bytes(MIN_BUDGET_BYTES),
    default: null,
    unit: null,
    help: 'the same for one actor, unless it has a single request; by default a quarter',
  },
  workers: {
    kind: workerCount(MAX_WORKERS),
    default: null,
    unit: null,
    help: 'processes that share the port, auto: one per core; by default a single process',
  },
};

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

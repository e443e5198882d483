import { LOG_LEVELS, type LogLevel } from '../log/logger.js';
import { type AuthenticatorChoice, authenticatorList } from './authenticator-list.js';
import { type PluginSource, pluginList } from './plugin-list.js';
import {
  address,
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

/**
 * - `off`: the files of plugins are not checked
 * - `warn`: a plugin that `enforce` would reject is logged and used
 * - `enforce`: a plugin is used only if each of its files has the expected digest
 */
export const INTEGRITY_POLICIES = ['off', 'warn', 'enforce'] as const;

export type IntegrityPolicy = (typeof INTEGRITY_POLICIES)[number];
export const ENVIRONMENTS = ['development', 'production'] as const;

/** What `modgate serve` runs with: validated, frozen, all paths absolute. */
export interface HostConfig {
  /** The folder of descriptors. */
  readonly modules: string;
  /** Folders of plugins and npm packages, in addition to the plugins that modgate ships. */
  readonly plugins: readonly PluginSource[] | null;
  /** What to do with a plugin whose files do not have the expected digests. */
  readonly pluginIntegrity: IntegrityPolicy;
  /** The file of digests that operators keep apart from the plugins. */
  readonly pluginDigests: string | null;
  /** The folder for persistent data. */
  readonly state: string;
  /** The store of config values and audit: `postgres://…`; `null`: SQLite under `state`. */
  readonly store: string | null;
  /** The address to listen on: an IP address or a host name. */
  readonly host: string;
  /** 0 selects a free one. */
  readonly port: number;
  /** `development` enables dev tokens. */
  readonly env: (typeof ENVIRONMENTS)[number];
  /** The file of the `tokens` authenticator. */
  readonly tokens: string | null;
  /** The file of the issuers of signed and opaque tokens. */
  readonly issuers: string | null;
  /** The chain in its order; `null`: all that are configured. */
  readonly authenticators: readonly AuthenticatorChoice[] | null;
  /** Accepts dev tokens from other machines. */
  readonly allowDevAuthAnywhere: boolean;
  /** The certificate of the listener, PEM with its chain; `null`: plain HTTP. */
  readonly tlsCert: string | null;
  /** The key of that certificate, PEM. */
  readonly tlsKey: string | null;
  /** The authorities of client certificates; `null`: no client certificates. */
  readonly tlsClientCa: string | null;
  /** The file that maps client certificates to actors. */
  readonly tlsClients: string | null;
  /** From the first byte of a connection to the end of the head; also for a TLS handshake. Milliseconds. */
  readonly headTimeoutMs: number;
  /** Longest pause within a request body. Milliseconds. */
  readonly bodyTimeoutMs: number;
  /** For the whole request. Milliseconds. */
  readonly requestTimeoutMs: number;
  /** Longest pause of a client in reading a response. Milliseconds. */
  readonly sendTimeoutMs: number;
  /** How long a connection is kept open between requests. Milliseconds. */
  readonly idleTimeoutMs: number;
  /** Header lines of a request; one more is 431. */
  readonly maxHeaders: number;
  /** One more connection is closed at once. */
  readonly maxConnections: number;
  /** A connection is closed after this number of requests. */
  readonly maxRequestsPerConnection: number;
  /** Limit for each actor; 0: no limit. Requests per second. */
  readonly actorRate: number;
  /** Requests of an actor at once; 0: as many as per second. */
  readonly actorBurst: number;
  /** Lifetime of a key of `modgate-identity`. Hours. */
  readonly identityRotationHours: number;
  /** Time for requests in flight to finish during the drain. Milliseconds. */
  readonly drainMs: number;
  /** How long the host still accepts requests, not ready, before it drains. Milliseconds. */
  readonly drainDelayMs: number;
  readonly logLevel: LogLevel;
  /** Share of successful requests that are logged; failures always are. */
  readonly logSuccessSample: number;
  /** Whether the state of each descriptor is written to `.status/` in the modules folder. */
  readonly statusFiles: 'on' | 'off';
  /** Most calls kept in the store; 0: only the last 10,000, in memory. */
  readonly keepCalls: number;
  /** How long calls are kept in the store. Hours. */
  readonly keepCallsHours: number;
  /** Forwarded requests at the same time; one more is `overloaded`. */
  readonly maxInFlight: number;
  /** Event-loop delay above which forwarded requests are `overloaded`. Milliseconds. */
  readonly shedDelayMs: number;
  /** Processes that share the port; `null`: only this one. */
  readonly workers: number | null;
}

export type SettingName = keyof HostConfig;

interface Setting<T> {
  readonly kind: SettingKind<NonNullable<T>>;
  /** As text, so that it is parsed like any other. */
  readonly default: null extends T ? null : string;
  readonly unit: string | null;
  readonly help: string;
}

/** The longest delay of a Node.js timer: a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
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
  allowDevAuthAnywhere: {
    kind: onOff,
    default: 'false',
    unit: null,
    help: 'accept dev tokens from other machines: every client can then be any actor',
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

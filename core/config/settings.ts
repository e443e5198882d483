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
 * - `off`: the files of plugins are not looked at
 * - `warn`: what `enforce` would refuse is logged, and used
 * - `enforce`: a plugin is used only when each of its files has the digest that it should have
 */
export const INTEGRITY_POLICIES = ['off', 'warn', 'enforce'] as const;

export type IntegrityPolicy = (typeof INTEGRITY_POLICIES)[number];
export const ENVIRONMENTS = ['development', 'production'] as const;

/** What `modgate serve` runs with: validated, frozen, all paths absolute. */
export interface HostConfig {
  /** The folder of descriptors. */
  readonly modules: string;
  /** Folders of plugins and npm packages, beside the plugins that modgate ships. */
  readonly plugins: readonly PluginSource[] | null;
  /** What becomes of a plugin whose files do not have their digests. */
  readonly pluginIntegrity: IntegrityPolicy;
  /** The file of digests that ops keep apart from the plugins. */
  readonly pluginDigests: string | null;
  /** The folder for data that must last. */
  readonly state: string;
  /** The store of config values and audit: `postgres://…`; `null`: SQLite under `state`. */
  readonly store: string | null;
  /** Where to listen: an IP address or a host name. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** `development` turns dev tokens on (contract 3). */
  readonly env: (typeof ENVIRONMENTS)[number];
  /** The file of the `tokens` authenticator. */
  readonly tokens: string | null;
  /** The file of the issuers of signed and of opaque tokens. */
  readonly issuers: string | null;
  /** The chain, in the order in which it is asked; `null`: every one that is configured. */
  readonly authenticators: readonly AuthenticatorChoice[] | null;
  /** Lets dev tokens be used beyond loopback. */
  readonly allowDevAuthAnywhere: boolean;
  /** The certificate of the listener, PEM with its chain; `null`: plain HTTP. */
  readonly tlsCert: string | null;
  /** The key of that certificate, PEM. */
  readonly tlsKey: string | null;
  /** The authorities that vouch for certificates of callers; `null`: none are asked for. */
  readonly tlsClientCa: string | null;
  /** The file of the actors that certificates of callers stand for. */
  readonly tlsClients: string | null;
  /** From the first byte of a connection to the end of the head; also for a TLS handshake. Milliseconds. */
  readonly headTimeoutMs: number;
  /** How long a body may stand still. Milliseconds. */
  readonly bodyTimeoutMs: number;
  /** For the whole request. Milliseconds. */
  readonly requestTimeoutMs: number;
  /** How long a caller may take nothing of an answer. Milliseconds. */
  readonly sendTimeoutMs: number;
  /** How long a connection is kept open between requests. Milliseconds. */
  readonly idleTimeoutMs: number;
  /** Header lines of a request; one more is 431. */
  readonly maxHeaders: number;
  /** One more connection is closed at once. */
  readonly maxConnections: number;
  /** After so many a connection is closed. */
  readonly maxRequestsPerConnection: number;
  /** How often each actor may call; 0: no limit. Requests a second. */
  readonly actorRate: number;
  /** How many requests of an actor may come at once; 0: as many as a second. */
  readonly actorBurst: number;
  /** From one key of `modgate-identity` to the next. Hours. */
  readonly identityRotationHours: number;
  /** How long requests in flight may take to finish after the drain began. Milliseconds. */
  readonly drainMs: number;
  /** How long the host goes on accepting, not ready, before it drains. Milliseconds. */
  readonly drainDelayMs: number;
  readonly logLevel: LogLevel;
  /** The share of answered requests that are logged; failures always are. */
  readonly logSuccessSample: number;
  /** Whether what became of each descriptor is written to `.status/` in the modules folder. */
  readonly statusFiles: 'on' | 'off';
  /** Calls that are kept in the store at most; 0: only the last 10,000, in memory. */
  readonly keepCalls: number;
  /** How long calls are kept in the store. Hours. */
  readonly keepCallsHours: number;
  /** Forwarded requests at a time; one more is `overloaded`. */
  readonly maxInFlight: number;
  /** The delay of the event loop past which forwarded requests are `overloaded`. Milliseconds. */
  readonly shedDelayMs: number;
  /** How many processes serve the port together; `null`: this one, by itself. */
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

/** The longest that a Node.js timer waits: a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Each has its own connections to every provider, and 60 MiB of memory. */
const MAX_WORKERS = 64;

/** The one table behind flags, variables, the configuration file, help and docs. */
export const SETTINGS: { readonly [Name in SettingName]: Setting<HostConfig[Name]> } = {
  modules: {
    kind: path('dir'),
    default: 'modules.d',
    unit: null,
    help: 'folder of descriptors, one module a file',
  },
  plugins: {
    kind: pluginList,
    default: null,
    unit: null,
    help: 'folder of plugins, beside the ones that modgate ships',
  },
  pluginIntegrity: {
    kind: choice('policy', INTEGRITY_POLICIES),
    default: 'warn',
    unit: null,
    help: 'what to do with plugins whose files do not have their digests: off, warn or enforce',
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
    help: 'folder for data that must last',
  },
  store: {
    kind: storeUrl,
    default: null,
    unit: null,
    help: 'where config values and the audit are kept; by default in a file of the state folder',
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
    help: 'port to listen on; 0 picks a free one',
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
    help: 'names of the authenticators to ask, in this order; by default all that are configured',
  },
  allowDevAuthAnywhere: {
    kind: onOff,
    default: 'false',
    unit: null,
    help: 'accept dev tokens also beyond loopback: anybody who reaches the port is then anybody',
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
    help: 'authorities that vouch for certificates of callers, PEM',
  },
  tlsClients: {
    kind: path('file'),
    default: null,
    unit: null,
    help: 'file of the actors that certificates of callers stand for; reloaded when it changes',
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
    help: 'time for which the body of a request may stand still',
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
    help: 'time for which a connection is kept open between requests',
  },
  maxHeaders: {
    kind: integer(1),
    default: '2048',
    unit: 'headers',
    help: 'headers of a request; their size is at most 16 KiB anyway',
  },
  maxConnections: {
    kind: integer(1),
    default: '10000',
    unit: 'connections',
    help: 'connections at a time; one more is closed at once',
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
    help: 'how often each actor may call; 0 is no limit',
  },
  actorBurst: {
    kind: integer(0, 1_000_000),
    default: '0',
    unit: 'requests',
    help: 'requests of an actor that may come at once; 0 is as many as a second',
  },
  identityRotationHours: {
    kind: integer(1, 8784),
    default: '720',
    unit: 'hours',
    help: 'time after which the key that signs modgate-identity is followed by a new one',
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
    help: 'time to go on accepting after a SIGTERM, while /readyz says 503',
  },
  logLevel: {
    kind: choice('level', LOG_LEVELS),
    default: 'info',
    unit: null,
    help: `least level that is logged: ${LOG_LEVELS.join(', ')}`,
  },
  logSuccessSample: {
    kind: share,
    default: '1',
    unit: null,
    help: 'share of answered requests that are logged; failures always are',
  },
  statusFiles: {
    kind: choice('on|off', ['on', 'off']),
    default: 'on',
    unit: null,
    help: 'whether to write what became of each descriptor to .status/ in the modules folder',
  },
  keepCalls: {
    kind: integer(0, 1_000_000),
    default: '0',
    unit: 'calls',
    help: 'calls kept in the store at most; with 0 only the last 10,000, in memory',
  },
  keepCallsHours: {
    kind: integer(1, 87_600),
    default: '168',
    unit: 'hours',
    help: 'how long calls are kept in the store',
  },
  maxInFlight: {
    kind: integer(1),
    default: '4096',
    unit: 'requests',
    help: 'forwarded requests at a time; one more is refused as overloaded',
  },
  shedDelayMs: {
    kind: integer(1, MAX_TIMER_MS),
    default: '250',
    unit: 'ms',
    help: 'delay of the event loop past which forwarded requests are refused as overloaded',
  },
  workers: {
    kind: workerCount(MAX_WORKERS),
    default: null,
    unit: null,
    help: 'processes that serve together, auto: one a core; by default one without any beside it',
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

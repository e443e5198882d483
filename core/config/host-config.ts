import type { LogLevel } from '../log/logger.js';
import type { AuthenticatorChoice } from './authenticator-list.js';
import type { CorsSettings } from './cors.js';
import type { PluginSource } from './plugin-list.js';
import type { SurfaceChoice } from './surface-list.js';

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
  /** A header that holds a token of that file as well as `authorization`, in lower case. */
  readonly tokenHeader: string | null;
  /** The file of the issuers of signed and opaque tokens. */
  readonly issuers: string | null;
  /** The chain in its order; `null`: all that are configured. */
  readonly authenticators: readonly AuthenticatorChoice[] | null;
  /** What is said about surfaces; `null`: the default ones are on. */
  readonly surfaces: readonly SurfaceChoice[] | null;
  /** Accepts dev tokens from other machines. */
  readonly allowDevAuthAnywhere: boolean;
  /** The origin under which people and clients reach the host. */
  readonly publicUrl: string | null;
  /** Pages of other origins that may call modules. */
  readonly cors: CorsSettings | null;
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
  /** Bodies of all requests and responses that the host holds; one more is `overloaded`. Bytes. */
  readonly memoryBudget: number;
  /** The same for one actor, unless it has a single request; `null`: a quarter of `memoryBudget`. Bytes. */
  readonly actorBudget: number | null;
  /** Processes that share the port; `null`: only this one. */
  readonly workers: number | null;
}

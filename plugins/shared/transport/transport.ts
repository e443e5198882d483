import type { ConnectionOptions } from 'node:tls';
import type { Struct } from 'superstruct';
import type {
  Balancing,
  ConfigDescription,
  OpenContext,
  Provider,
} from '../../../core/contract/index.js';
import type { SendRequest } from './send-request.js';
import type {
  AuthConfig,
  EndpointsConfig,
  HealthConfig,
  ResolverConfig,
  TlsConfig,
  TransportConfig,
} from './transport-config.js';

export interface TransportOptions {
  /**
   * The scheme of endpoints without TLS, lower case: `grpc`. Those with TLS have an `s` at its end:
   * `grpcs`.
   */
  readonly scheme: string;
  /**
   * Whether URLs of endpoints are those of HTTP: with a path before each target, and with the ports
   * of HTTP by default. The host then maps references below them. Default false: a host and a port.
   */
  readonly paths?: boolean;
}

/** The words and the rules of one kind for its endpoints. */
export interface Transport {
  /** The URL of one endpoint, for a config with one endpoint and without `endpoints`. */
  readonly url: Struct<string, null>;
  readonly members: TransportMembers;
  /** Adds the rules between the members: `hash_header` and `strategy`, `tls` and `endpoints`. */
  checked<T extends Pick<TransportConfig, 'endpoints' | 'strategy' | 'hash_header' | 'tls'>, S>(
    struct: Struct<T, S>,
  ): Struct<T, S>;
  /** The `describeConfig` of an adapter whose config names nothing else of the host. */
  describe(config: Pick<TransportConfig, 'auth' | 'health' | 'endpoints'>): ConfigDescription;
  /**
   * The `tryCredentials` of an adapter: requests a token like the first call.
   * @returns the reason of a failure; `null` for credentials without a request
   * @throws Error for a secret that cannot be used.
   */
  tryCredentials(
    config: Pick<TransportConfig, 'auth'>,
    context: Pick<OpenContext, 'secret' | 'callerTokens'>,
  ): Promise<string | null>;
  /**
   * Opens the endpoints, and closes them with the scope. It waits at most 3 s for answers of DNS,
   * and needs no endpoint to be up.
   * @param connect called once for each endpoint, also later, when a name has a new address. It
   * must not need the endpoint to be up, block or throw. `send` is that of the result.
   * @throws Error for a secret, certificate or key that cannot be used; the message names the key of
   * the config, not the value.
   */
  open<T extends EndpointClient>(
    config: TransportConfig,
    context: TransportContext,
    connect: (place: EndpointPlace, send: SendRequest) => T,
  ): Promise<OpenTransport<T>>;
}

/** The structs of {@link TransportConfig}, for `object` of superstruct; each may be left out. */
export interface TransportMembers {
  readonly endpoints: Struct<EndpointsConfig, null>;
  readonly resolver: Struct<ResolverConfig | undefined, unknown>;
  readonly strategy: Struct<Balancing['strategy'] | undefined, unknown>;
  readonly hash_header: Struct<string | undefined, null>;
  readonly tls: Struct<TlsConfig | undefined, unknown>;
  /** Without what a check asks: `object({ ...members.health.schema, service: string() })`. */
  readonly health: Struct<HealthConfig | undefined, HealthSchema>;
  readonly auth: Struct<AuthConfig | undefined, unknown>;
}

type HealthSchema = Record<
  'interval_ms' | 'timeout_ms' | 'failures' | 'successes',
  Struct<number | undefined, null>
>;

/** What opening needs of the context; `follow` for `endpoints.file` only. */
export type TransportContext = Pick<OpenContext, 'module' | 'scope' | 'secret' | 'file' | 'log'> &
  Partial<Pick<OpenContext, 'follow' | 'openSigner' | 'callerTokens'>>;

/** Where calls are sent: an entry of `endpoints`, or one address of a name. */
export interface EndpointPlace {
  /** Shown to operators; unique in its provider. */
  readonly id: string;
  /** Share of the calls; at least 1. */
  readonly weight: number;
  /** The rank of an SRV record, from 0; used only while no endpoint with a lower one is up. */
  readonly priority: number;
  /**
   * The origin by the name in the config, http or https whatever the scheme of the kind is:
   * `https://crm.internal:8443`.
   */
  readonly origin: string;
  /** Prefix of every target: empty, or a path without a trailing slash. */
  readonly prefix: string;
  /** What to connect to: an address, or the name in a URL. */
  readonly host: string;
  readonly port: number;
  /**
   * For `connect` of `node:tls`, with the name that the certificate must have as `servername`, or
   * without one for an address; `null` without TLS.
   */
  readonly tls: ConnectionOptions | null;
}

/** The connections of an adapter to one endpoint. */
export interface EndpointClient {
  /** Whether it has no connection, and opens none. */
  readonly isUnused: boolean;
  /**
   * Called after the endpoint was removed, and again until {@link EndpointClient.isUnused}: lets
   * calls in flight finish, and then closes their connections. Must not block or throw.
   */
  retire(): void;
  /** Called once, with the scope: ends calls in flight. Later calls fail as `unavailable`. */
  close(): void | Promise<void>;
}

/** The opened endpoints of one provider. */
export interface OpenTransport<T extends EndpointClient> {
  /** Members of the provider: spread them into it. */
  readonly provider: Required<Pick<Provider, 'endpoints' | 'balancing' | 'credentialProblem'>> &
    Pick<Provider, 'followEndpoints'>;
  /** The current endpoints, in the order of the config. */
  list(): readonly T[];
  /**
   * @param id that of an invocation. Default: the first endpoint.
   * @throws ProviderFailure `unavailable` in phase `connecting` for one that is not there.
   */
  find(id?: string): T;
  /** Sends with the credentials of `auth`. */
  readonly send: SendRequest;
  /**
   * Runs for the endpoints in turn until one succeeds, for requests of the host itself.
   * @throws the error of the last one, or of the one that ran when the signal was aborted;
   * ProviderFailure `unavailable` without endpoints.
   */
  tryEach<R>(signal: AbortSignal, run: (client: T) => Promise<R>): Promise<R>;
  /**
   * The `check` of a provider, of one endpoint or of any.
   * @param run rejects for an endpoint that cannot serve; its signal is aborted after
   * `health.timeout_ms`, 1,000 without it
   */
  createCheck(run: (client: T, signal: AbortSignal) => Promise<void>): Provider['check'];
}

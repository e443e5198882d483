import type { Balancing } from '../../../core/contract/index.js';

/** A URL with a share of the calls. */
export interface WeightedEndpoint {
  readonly url: string;
  /** Share of the calls relative to the other endpoints: 1 to 1,000. */
  readonly weight: number;
}

/** A name of DNS, each address of which is an endpoint. */
export type NamedEndpoint = (
  | { readonly dns: string; readonly port: number }
  | { readonly srv: string }
) & {
  /** Default: the scheme without TLS. */
  readonly scheme?: string | undefined;
  /** Prefix of every target. */
  readonly path?: string | undefined;
};

/** An entry of `endpoints` that needs no DNS of its own. */
export type FixedEndpoint = string | WeightedEndpoint;

/** An entry of `endpoints`. */
export type EndpointEntry = FixedEndpoint | NamedEndpoint;

/** A list of 1 to 64 endpoints, or a file that holds one. */
export type EndpointsConfig = readonly EndpointEntry[] | { readonly file: string };

/** Times in milliseconds. */
export interface ResolverConfig {
  readonly servers?: string[] | undefined;
  readonly refresh_ms?: number | undefined;
  readonly stale_ms?: number | undefined;
  readonly allow_local?: boolean | undefined;
}

/** `ca`, `cert` and `key` are references to files, PEM. */
export interface TlsConfig {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly servername?: string | undefined;
  readonly pin_sha256?: string | string[] | undefined;
}

/** A client at an authorization server, and what its tokens are for. */
interface TokenClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
  readonly client_auth?: 'basic' | 'post' | undefined;
  readonly private_key?: string | undefined;
  readonly scopes?: string[] | undefined;
  readonly audience?: string | undefined;
  readonly resource?: string | undefined;
}

/** Tokens by client credentials (RFC 6749, section 4.4). */
export interface OAuth2Config extends TokenClient {
  readonly token_url?: string | undefined;
  readonly issuer?: string | undefined;
}

/** Tokens on behalf of callers (RFC 8693). */
export interface ExchangeConfig extends TokenClient {
  readonly issuer: string;
  readonly token_url?: string | undefined;
  readonly host?:
    | {
        readonly scopes?: string[] | undefined;
        readonly audience?: string | undefined;
      }
    | undefined;
}

/** Exactly one kind of credentials; `config` is that of the signer. Secrets are references. */
export interface AuthConfig {
  readonly bearer?: string | undefined;
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly header?: { readonly name: string; readonly value: string } | undefined;
  readonly oauth2?: OAuth2Config | undefined;
  readonly exchange?: ExchangeConfig | undefined;
  readonly signer?: string | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
}

/** Times in milliseconds. */
export interface HealthConfig {
  readonly path?: string | undefined;
  readonly interval_ms?: number | undefined;
  readonly timeout_ms?: number | undefined;
  readonly failures?: number | undefined;
  readonly successes?: number | undefined;
}

/** The members of a config that a transport reads; an adapter may leave out any of them. */
export interface TransportConfig {
  /** Default: none, so that there is no endpoint. */
  readonly endpoints?: EndpointsConfig | undefined;
  readonly resolver?: ResolverConfig | undefined;
  /** Default `round_robin`. */
  readonly strategy?: Balancing['strategy'] | undefined;
  /** In any case. */
  readonly hash_header?: string | undefined;
  readonly tls?: TlsConfig | undefined;
  /** Default: no credentials. */
  readonly auth?: AuthConfig | undefined;
  /** Default: no checks. */
  readonly health?: HealthConfig | undefined;
}

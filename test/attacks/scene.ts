import type { RawAddress } from '../../core/selftest/raw-http.js';
import type { Scene as HostScene } from '../../core/selftest/scene.js';
import type { TestServer } from '../support/mcp/mcp-server.js';
import type { ReceivedRequest, ScriptedProvider } from '../support/provider.js';
import type { TokenIssuer } from './servers/signed-tokens.js';

export const CREDENTIAL_VARIABLE = 'SELFTEST_CREDENTIAL';

/** A host with modules, tokens and providers for the attacks. */
export interface Scene extends HostScene {
  readonly provider: ScriptedProvider;
  /** The provider of the modules whose routes are WebSockets. */
  readonly sockets: ScriptedProvider;
  /** A hostile MCP server. */
  readonly toolServer: TestServer;
  /** A server that no request may reach. */
  readonly bystander: ScriptedProvider;
  readonly tokens: Readonly<Record<OwnToken, string>>;
  /** An issuer of signed tokens that the host trusts. */
  readonly issuer: TokenIssuer;
  /** The issuer of opaque tokens; none of them is active. Its tokens start with `iss_`. */
  readonly introspection: ScriptedProvider;
  /** Receives copies of calls. */
  readonly candidate: ScriptedProvider;
  /** A second host: it limits wrong credentials of one address, and requests of one actor. */
  readonly bounded: RawAddress;
  /** Repeated after all attacks, since a host may call a provider after its response. */
  readonly lateChecks: (() => string | null)[];
}

/** The kind of each actor, and its scopes. The token of `expired` has expired. */
export const ACTORS = {
  owner: [
    ...['service', 'shop.use', 'modgate.modules.read', 'modgate.calls.read'],
    ...['modgate.metrics.read', 'modgate.candidate.read'],
  ],
  stranger: ['service'],
  wildcard: ['service', '*', 'shop.*', 'shop', 'SHOP.USE', 'shop.use.more'],
  user: ['user', 'shop.use'],
  admin: ['user', 'console.admin'],
  explainer: ['service', 'modgate.explain'],
  approver: ['user', 'shop.use', 'modgate.approvals'],
  publisher: ['service', 'modgate.releases'],
  expired: ['service', 'shop.use'],
} as const;

export type OwnToken = keyof typeof ACTORS;

/** The requests of the current attack at a server, since attacks and late calls overlap. */
export function listReceived({ mark }: Scene, server: ScriptedProvider): ReceivedRequest[] {
  return server.requests.filter(
    ({ target, rawHeaders }) => target.includes(mark) || rawHeaders.includes(mark),
  );
}

/** All values of a header, with names compared like CGI: case-insensitive, `_` equal to `-`. */
export function readHeader({ rawHeaders }: ReceivedRequest, name: string): string[] {
  return rawHeaders.filter(
    (_, index) =>
      rawHeaders[index - 1]?.toLowerCase().replaceAll('_', '-') === name && index % 2 === 1,
  );
}

/** A module of the host. Its other members are those of its descriptor. */
export interface OwnModule {
  /** Default: the URL of the provider that most modules share. */
  readonly url?: string;
  /** Of its provider, besides the endpoints. */
  readonly config?: object;
  /** Besides the routes of all modules. */
  readonly routes?: readonly object[];
  readonly [member: string]: unknown;
}

export type OwnModules = Readonly<Record<string, OwnModule>>;

import type { RawAddress } from './raw-http.js';
import type { RecordedRequest, RecordingProvider } from './recording-provider.js';
import type { SignInIssuer } from './sign-in-issuer.js';
import type { TokenIssuer } from './signed-tokens.js';

/** The target of the attacks. */
export interface Scene {
  readonly address: RawAddress;
  /** The value of the `host` header. */
  readonly authority: string;
  /** `/modules/{module}/http`. */
  readonly base: string;
  /** Relative to `base`, without a query: a GET route that the token may call. */
  readonly route: string;
  /** `null` skips the cases that require a token. */
  readonly token: string | null;
  /** `null` for a host that the selftest did not start. */
  readonly own: OwnScene | null;
  /** The request and correlation id of the current attack, which its providers receive. */
  readonly mark: string;
  /** Repeated after all attacks, since a host may call a provider after its response. */
  readonly lateChecks: (() => string | null)[];
}

/** The additional parts of a host that the selftest has started. */
export interface OwnScene {
  readonly provider: RecordingProvider;
  /** The provider of the modules whose routes are WebSockets. */
  readonly sockets: RecordingProvider;
  /** A server that no request may reach. */
  readonly bystander: RecordingProvider;
  readonly tokens: Readonly<Record<OwnToken, string>>;
  /** An issuer of signed tokens that the host trusts. */
  readonly issuer: TokenIssuer;
  /** The issuer of opaque tokens; none of them is active. Its tokens start with `iss_`. */
  readonly introspection: RecordingProvider;
  /** The server that exchanges tokens, and is the provider of its modules. */
  readonly exchange: RecordingProvider;
  /** Receives copies of calls. */
  readonly candidate: RecordingProvider;
  /** The issuers at which people sign in to the console. */
  readonly signIn: SignInIssuer;
  /** A second host: it limits wrong credentials of one address, and requests of one actor. */
  readonly bounded: RawAddress;
  /** Values that no response may contain. */
  readonly secrets: readonly string[];
  /** The console of the module `desk`, for the bridge. */
  readonly console: { readonly release: string; readonly ui: string };
}

/**
 * `owner` is a service with the scopes of the routes, `stranger` one without them, `wildcard` one with
 * scopes that look like patterns. `user` is a user without `console.admin`, `admin` one with it only.
 * `explainer` may explain requests only. `approver` is a user with the scopes of the routes, who decides about
 * requests for approval. `publisher` may publish releases. `expired` is an expired token.
 */
export const OWN_TOKENS = [
  ...([
    'owner',
    'stranger',
    'wildcard',
    'user',
    'admin',
    'explainer',
    'approver',
    'publisher',
    'expired',
  ] as const),
] as const;

export type OwnToken = (typeof OWN_TOKENS)[number];

/** The requests of the current attack at a server, since attacks and late calls overlap. */
export function listReceived({ mark }: Scene, server: RecordingProvider): RecordedRequest[] {
  return server.requests.filter(
    ({ target, rawHeaders }) => target.includes(mark) || rawHeaders.includes(mark),
  );
}

/** Requires `needs: 'own'` of the case. @throws Error for another host. */
export function requireOwn(scene: Scene): OwnScene {
  if (scene.own === null) throw new Error('the case needs a host that the selftest has started');
  return scene.own;
}

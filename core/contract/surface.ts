import type { Struct } from 'superstruct';
import type { Actor } from './actor.js';
import type { Credentials } from './authenticator.js';
import { CONTRACT_VERSION } from './contract-version.js';
import type { HostSnapshot } from './host-snapshot.js';
import type { HostResource } from './listing.js';
import type { Log } from './log.js';
import type { Progress } from './progress.js';
import type { Scope } from './scope.js';
import type { Secret } from './secret.js';
import type { SurfaceRecords } from './surface-records.js';

const SURFACE_BRAND = Symbol.for('modgate.surface');

/** The context of a request to a surface. */
export interface SurfaceCall {
  /** The id of the request; also in the response, the log line and Problems. */
  readonly requestId: string;
  /** The id that joins the requests of one operation. */
  readonly correlationId: string;
  /** Path and query as on the request line; the URL of the request may be encoded further. */
  readonly target: string;
  /** Aborted when the client closes the connection, or the host ends the response. */
  readonly signal: AbortSignal;
  /**
   * The caller, frozen; `null` without credentials. Always `null` for a surface with
   * `authentication: 'own'`.
   */
  readonly actor: Actor | null;
  /**
   * The origin under which browsers reach the host, such as `https://gateway.example`: of `--public-url`,
   * otherwise of the host's own TLS or loopback address. `null` where it is unknown: set no cookie then.
   */
  readonly origin: string | null;
  /**
   * Whether a page of the same origin made the request: `sec-fetch-site: same-origin`, or an `origin` header
   * equal to `origin`. A surface with cookies must require it of every request that changes something.
   */
  readonly isSameOrigin: boolean;
  /**
   * Whether a page of an origin in the setting `cors` made the request. Always `false` for a
   * surface without `isProtectedResource`: pages of other origins may not call it.
   */
  readonly isListedOrigin: boolean;
  /**
   * The network of the client: its IPv4 address, or the /64 of its IPv6 address, all of which one
   * client may own. Limit anonymous clients by it. Empty if it is unknown.
   */
  readonly network: string;
}

/** An opened surface. */
export interface Surface {
  /**
   * Determines the caller from the head of a request, before its body is read and before `fetch`.
   * Only for a surface with `authentication: 'own'`, such as one with sessions. Without it, and if
   * it returns `null`, the limits of anonymous requests apply.
   * It is called again, with another object, at most every 30 s while a response that is not an event
   * stream is sent: the response is cut when there is no actor any more.
   * @param request without its body
   * @param call the same object that `fetch` receives
   * @returns an actor from the host.
   */
  identify?(request: Request, call: SurfaceCall): Promise<Actor | null>;
  /**
   * Rejects a request by its head, after `identify` and before its body is read. Unknown paths,
   * other methods, and whatever the path requires of the caller, such as credentials or a scope,
   * belong here, so that no rejected request makes the host read and hold a body.
   * @param request without its body
   * @param call the same object that `fetch` receives
   * @throws SurfaceError for a request that `fetch` must not get.
   */
  admit?(request: Request, call: SurfaceCall): void | Promise<void>;
  /**
   * Handles a request below the prefix of the surface. Called many at the same time, with untrusted input.
   * The body of the request has arrived completely; the factory says how long it may be. The host
   * rejects a GET or HEAD that announces a body.
   *
   * The response must come within 30 s, or the client gets a 503. Its body may be a stream that pauses for
   * at most 30 s: an event stream sends a comment every 15 s. A body is canceled when the client closes the
   * connection. A {@link SurfaceError} becomes its Problem, any other error a 500.
   *
   * When the host stops, event streams end at once, because clients open them again. One that ends by
   * itself, such as the response to a call, has the header `modgate-stream: call`, which the client does
   * not get. Like other responses, it may then take as long as the host drains.
   *
   * The host adds the ids, `x-content-type-options: nosniff` and, unless the response has one,
   * `cache-control: no-store`.
   */
  fetch(request: Request, call: SurfaceCall): Promise<Response>;
}

/** An operation that a module exposes to agents, as `HostApi.snapshot` lists it. */
export interface NamedOperation {
  /** The configured name of the module. */
  readonly module: string;
  /** The id of the operation: `list_contacts`, `entity:contacts`, `action:merge`. */
  readonly id: string;
}

/** A request to the host's own HTTP interface. */
export interface HostRequest {
  /** Default `GET`. */
  readonly method?: string;
  /** Raw path and query, as on a request line: `/modules/crm/http/contacts?limit=2`. */
  readonly target: string;
  /** The headers; credentials, `host` and what belongs to the framing throw. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Text is sent as UTF-8. Default: no body. */
  readonly body?: Uint8Array | string | null | undefined;
  /** Cancels the request, like a client that closes its connection. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The request of the surface that causes this one: its client's address counts, such as for
   * `allow` of a module. Default: the request that authenticated the actor.
   */
  readonly call?: SurfaceCall | undefined;
  /**
   * The operation that an agent calls with the request: one of a route, or with `POST /operations`
   * an entity or an action. The host compares it with the route that matches, and consults exposure
   * and approvals. Any other route, and an operation that is not exposed, is 404. A call that needs
   * approval is 202 with `modgate-origin: host` and `{status: 'pending', id, expires_at}` until a
   * person has approved it, with the `url` of the page for it if that is known. The provider is
   * then called once. If a person has rejected it, the status is `rejected` with the `reason`, or
   * `null`, until the request would have expired. Default: none, and the request is one as over
   * HTTP, to which neither exposure nor approvals apply.
   */
  readonly operation?: NamedOperation | undefined;
  /**
   * Called with each report of the provider of a forwarded call, at most ten a second, before the response. Must not
   * throw. Default: reports only extend the time of the call.
   */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The interface of the host for a surface. There is no other way to call a module. */
export interface HostApi {
  /** The version of modgate. */
  readonly version: string;
  /** What the host shows to people, and how: the routes for the pages of a console. */
  readonly resources: readonly HostResource[];
  /**
   * Calls the host's own HTTP interface without a socket. The target is validated as over HTTP, and
   * every check, limit, record and metric is the same; log lines and call records name the surface.
   * Surfaces cannot be called.
   * @param actor an actor from the host: of a `SurfaceCall` or of `authenticate`
   * @returns any status; the body may be a stream.
   * @throws TypeError for any other actor, and for a header that a surface must not set. The reason
   * of `signal` when it is aborted.
   */
  request(actor: Actor, request: HostRequest): Promise<Response>;
  /**
   * Counts a request that the surface answers itself against the rate of its actor (`--actor-rate`).
   * `request` counts by itself.
   * @throws SurfaceError `rate_limited`, `unavailable`; TypeError for an actor that the host did not make.
   */
  admit(actor: Actor): Promise<void>;
  /**
   * Returns the modules of the whole host, with their counts. It is for the surface itself: no
   * actor is authorized.
   */
  snapshot(): Promise<HostSnapshot>;
  /**
   * Calls the listener soon after the state of a module or its served version has changed; several
   * changes at once cause one call. Counts are not changes.
   * @returns a function that removes the listener.
   */
  onChange(listener: () => void): () => void;
}

/** The options of a call of the authenticators. */
export interface AuthenticateOptions {
  /**
   * Whether the surface itself has stored or created the credentials, such as the token of a
   * session. Only credentials of clients count for `--auth-failures`. Default false.
   */
  readonly isKept?: boolean;
}

/** The second argument of {@link SurfaceFactory.open}. */
export interface SurfaceContext {
  /** Closes when the host stops, or at once if `open` fails. */
  readonly scope: Scope;
  /** The host's log; lines name the surface. */
  readonly log: Log;
  /** The secret of a `secretReference()` in the config, already resolved. */
  secret(reference: string): Secret;
  /** The bytes of a `fileReference()` in the config, already read. */
  file(reference: string): Uint8Array;
  /**
   * The absolute path of a `fileReference()` or of any other path in the config; a relative path starts at
   * the folder of the configuration file.
   */
  path(reference: string): string;
  /** The interface of the host. */
  readonly host: HostApi;
  /**
   * Calls the host's authenticators, as for a request.
   * @param call the request with the credentials: each client has a share of the concurrent
   * verifications. Without it, the call uses a share for all credentials without a request.
   * @returns the actor, frozen; `null` for invalid credentials.
   * @throws SurfaceError `unavailable` when an authenticator does not respond: the credentials may
   * be valid; `rate_limited` when too many from the address of the client were rejected.
   */
  authenticate(
    credentials: Pick<Credentials, 'scheme' | 'token'>,
    call?: SurfaceCall,
    options?: AuthenticateOptions,
  ): Promise<Actor | null>;
  /**
   * The issuers of the issuers file at startup. A surface with a sign-in at an issuer needs one of
   * them: the host rejects the access tokens of others.
   */
  readonly issuers: readonly string[];
  /** Small values in the host's store. */
  readonly records: SurfaceRecords;
}

/**
 * A part of the host's own HTTP interface: a console, a page, another protocol. `open` is called once, when
 * the host starts; with `--workers` in each worker. A surface that fails, hangs or is absent never affects
 * the routes of modules.
 */
export interface SurfaceFactory<Config = unknown> {
  /** Set by {@link defineSurface}. */
  readonly contract: typeof CONTRACT_VERSION;
  /** The name in the setting `surfaces` and in `surfaces` of `plugin.json`: `^[a-z][a-z0-9-]*$`. */
  readonly name: string;
  /**
   * One path segment that no other surface and no route of the host has, such as `/console`. The surface
   * gets the requests to it and to everything below it.
   */
  readonly prefix: string;
  /** Validates the setting without `enabled` and must reject unknown keys, as superstruct's `object` does. */
  readonly config: Struct<Config, unknown>;
  /**
   * `host`: the host authenticates callers, and bad credentials never reach the surface. `own`: the surface
   * has its own sign-in and calls `authenticate`. Default `host`.
   */
  readonly authentication?: 'host' | 'own';
  /** The longest body of a request, which is checked before it is read. Bytes. Default and most 1,048,576. */
  readonly maxBodyBytes?: number;
  /**
   * The maximum for a request without an actor. All such bodies share a budget, of which each
   * address has a part. Bytes. Default `maxBodyBytes`.
   */
  readonly maxAnonymousBodyBytes?: number;
  /**
   * Whether clients discover from the host where to sign in: the host serves the metadata of RFC
   * 9728 for each path below the prefix, and a 401 names it. Pages of the origins in `cors` may then call the
   * surface, with the methods and headers of the Model Context Protocol. Default false.
   */
  readonly isProtectedResource?: boolean;
  /** The digest of its bundle, `sha256:` and hex: its UI artifact digest at the console bridge. */
  readonly uiDigest?: string;
  /**
   * Must not require that remote services are running, and must end within 5 s. Register each opened
   * resource with `context.scope` at once.
   * @throws Error if the surface cannot work: the host starts without it, and logs the message, which must
   * not contain a secret. A {@link SurfaceError} `validation_failed` for a config that does not fit the host:
   * the start ends with exit code 2, as for a config that `config` rejects.
   */
  open(config: Config, context: SurfaceContext): Surface | Promise<Surface>;
}

/** Marks an object as a surface and freezes it. */
export function defineSurface<Config>(
  factory: Omit<SurfaceFactory<Config>, 'contract'>,
): SurfaceFactory<Config> {
  return Object.freeze({ ...factory, contract: CONTRACT_VERSION, [SURFACE_BRAND]: true });
}

/** Checks the mark, not the class: a plugin may have its own copy of the contract. */
export function isSurfaceFactory(value: unknown): value is SurfaceFactory {
  return typeof value === 'object' && value !== null && SURFACE_BRAND in value;
}

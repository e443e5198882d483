import type {
  Actor,
  Surface,
  SurfaceCall,
  SurfaceContext,
  SurfaceError,
} from '../../core/contract/index.js';
import type { Bundle } from '../shared/bundle.js';
import { parseUrl } from '../shared/parse-url.js';
import { findPage, type Pages, servePages } from '../shared/serve-pages.js';
import { assertApiRight, findApiRoute, groupByPath, type Methods } from './api/api-routes.js';
import { assertJsonBody, assertNoBody } from './api/body-head.js';
import { assertOwnSite, isOwnSite } from './api/cross-site.js';
import { createJson } from './api/json.js';
import { passOn } from './api/pass-on.js';
import { hasScope, MODULES_SCOPE } from './api/scopes.js';
import { createSessionResponse, findBearer, serveSessions, signOut } from './api/session-routes.js';
import type { ConsoleConfig } from './config.js';
import { HostFeed } from './live/host-feed.js';
import { LiveEvents } from './live/live-events.js';
import { SAMPLE_MS } from './live/sampler.js';
import { API, CONSOLE } from './paths.js';
import { readCookie, SESSION_COOKIE } from './sessions/session-cookie.js';
import { createUnauthenticated, type Session, Sessions } from './sessions/sessions.js';
import { OidcIssuers } from './sign-in/oidc-issuers.js';
import { OidcSignIn } from './sign-in/oidc-sign-in.js';
import { createUnknownOrigin, SignIn } from './sign-in/sign-in.js';

const SESSIONS = /^\/sessions(?:\/([^/]+))?$/;
const DEVELOPER_ROUTE = 'POST /session/developer';

/** The callback of issuers: one path for all, or one for each. */
const CALLBACK = /^GET \/oidc\/callback(?:\/[A-Za-z0-9.-]+)?$/;

/** Routes without a session, because they begin one. */
const SIGN_IN_ROUTES: ReadonlySet<string> = new Set([
  'GET /oidc/start',
  'GET /sign-in',
  'POST /session',
  DEVELOPER_ROUTE,
]);

function isSignIn(route: string): boolean {
  return SIGN_IN_ROUTES.has(route) || CALLBACK.test(route);
}

interface ConsoleOptions {
  readonly config: ConsoleConfig;
  readonly context: SurfaceContext;
  /** `null` if the pages are not built. */
  readonly bundle: Bundle | null;
  /** The clock. Milliseconds since 1970. */
  readonly now?: () => number;
}

interface FoundSession {
  readonly session: Session;
  readonly cookie: string;
}

interface ApiCall extends FoundSession {
  readonly request: Request;
  readonly call: SurfaceCall;
  /** The path below /console/api. */
  readonly path: string;
  readonly searchParams: URLSearchParams;
}

/** The console: pages, sessions, and calls of the host. */
export class Console implements Surface {
  readonly #context: SurfaceContext;
  readonly #pages: Pages;
  readonly #ofHost: ReadonlyMap<string, Methods>;
  readonly #sessions: Sessions;
  readonly #signIn: SignIn;
  readonly #oidc: OidcSignIn;
  readonly #feed: HostFeed;
  readonly #events: LiveEvents;
  readonly #found = new WeakMap<SurfaceCall, Promise<FoundSession | null>>();
  readonly #version: string;
  readonly #startedAt = new Date().toISOString();

  constructor({ config, context, bundle, now }: ConsoleOptions) {
    const { host, log, scope } = context;
    this.#context = context;
    this.#ofHost = groupByPath(host.resources);
    this.#pages = { prefix: CONSOLE, bundle };
    this.#version = context.host.version;
    const issuers = config.oidc ?? [];
    const oidcIssuers = new OidcIssuers(issuers, context);
    this.#sessions = new Sessions(context, oidcIssuers, now);
    const names = issuers.map(({ issuer }) => ({ issuer, name: new URL(issuer).host }));
    this.#signIn = new SignIn(this.#sessions, context, names);
    this.#oidc = new OidcSignIn(oidcIssuers, context.records, this.#signIn);
    this.#feed = new HostFeed({ host, log, scope });
    const { version } = host;
    this.#events = new LiveEvents({
      sessions: this.#sessions,
      feed: this.#feed,
      host,
      log,
      version,
    });
  }

  /** Finds the actor of a session; without a session, only a sign-in is possible. */
  async identify(request: Request, call: SurfaceCall): Promise<Actor | null> {
    const { pathname } = new URL(request.url);
    const route = `${request.method} ${pathname.slice(API.length)}`;
    if (!pathname.startsWith(`${API}/`) || isSignIn(route)) return null;
    if (!isOwnSite(request, call)) return null;
    return (await this.#findSession(request, call))?.session.actor ?? null;
  }

  /** Decides all that the head of a request decides. */
  async admit(request: Request, call: SurfaceCall): Promise<void> {
    const { pathname } = new URL(request.url);
    const path = pathname.slice(API.length);
    const route = `${request.method} ${path}`;
    if (!pathname.startsWith(`${API}/`)) {
      findPage(this.#pages, request);
      return;
    }
    // The issuer is another site, so the page is not checked.
    if (CALLBACK.test(route)) return;
    const bearer = SESSIONS.test(path) ? await findBearer(request, this.#context, call) : null;
    // A page of another site cannot send this header.
    if (bearer !== null) return this.#admitActor(bearer, request, path);
    // Checked before the page: the cause is a missing setting of the host.
    if (call.origin === null && SIGN_IN_ROUTES.has(route) && route !== 'GET /sign-in') {
      throw createUnknownOrigin();
    }
    assertOwnSite(request, call);
    if (route === DEVELOPER_ROUTE) await this.#signIn.assertDeveloper(call);
    if (!SIGN_IN_ROUTES.has(route)) {
      const found = await this.#findSession(request, call);
      if (found === null) throw this.#createUnauthenticated(request, call);
      await this.#admitActor(found.session.actor, request, path);
    }
    assertJsonBody(request);
  }

  async #admitActor(actor: Actor, request: Request, path: string): Promise<void> {
    const found = findApiRoute(path, this.#ofHost);
    // The host counts its own requests.
    if (!found.isOfHost) await this.#context.host.admit(actor);
    assertApiRight(found, request.method, actor);
    if (!found.isOfHost) assertNoBody(request);
  }

  async fetch(request: Request, call: SurfaceCall): Promise<Response> {
    const { pathname, searchParams } = parseUrl(request.url);
    if (!pathname.startsWith(`${API}/`)) return servePages(this.#pages, request);
    const path = pathname.slice(API.length);
    const route = `${request.method} ${path}`;
    if (CALLBACK.test(route)) return this.#oidc.finish(request, call);
    const sessionId = SESSIONS.exec(path);
    if (sessionId !== null) return serveSessions(this.#sessions, sessionId[1] ?? null);
    if (route === 'GET /sign-in') return this.#signIn.describe(call);
    if (route === 'POST /session') return this.#signIn.withToken(request, call);
    if (route === DEVELOPER_ROUTE) return this.#signIn.asDeveloper(request, call);
    if (route === 'GET /oidc/start') return this.#oidc.start(request, call);
    const session = await this.#findSession(request, call);
    if (session === null) throw this.#createUnauthenticated(request, call);
    return this.#serveApi({ request, call, path, searchParams, ...session });
  }

  /** Finds the session of a call, at most once. */
  #findSession(request: Request, call: SurfaceCall): Promise<FoundSession | null> {
    const cached = this.#found.get(call);
    if (cached !== undefined) return cached;
    const lookup = this.#lookUpSession(request, call);
    this.#found.set(call, lookup);
    return lookup;
  }

  #createUnauthenticated(request: Request, call: SurfaceCall): SurfaceError {
    const cookie = readSessionCookie(request, call);
    return createUnauthenticated(cookie === null ? null : this.#sessions.findEnd(cookie));
  }

  async #lookUpSession(request: Request, call: SurfaceCall): Promise<FoundSession | null> {
    const cookie = readSessionCookie(request, call);
    const session = cookie === null ? null : await this.#sessions.find(cookie, true, call);
    return cookie === null || session === null ? null : { cookie, session };
  }

  async #serveApi(apiCall: ApiCall): Promise<Response> {
    const { request, call, path, searchParams, session, cookie } = apiCall;
    if (findApiRoute(path, this.#ofHost).isOfHost) {
      return passOn(this.#context.host, session.actor, request, call);
    }
    if (path === '/session') {
      if (request.method === 'DELETE') return signOut(this.#sessions, cookie, call);
      const uiDigest = this.#pages.bundle?.digest ?? null;
      const { version, resources } = this.#context.host;
      return createSessionResponse(session, { version, uiDigest, resources });
    }
    if (path === '/events') {
      const wants = (name: string) => searchParams.get(name) === 'true';
      const events = { calls: wants('calls'), approvals: wants('approvals') };
      return this.#events.open(session, cookie, events, call);
    }
    if (path === '/host') return this.#describeHost(session.actor);
    const samples = this.#feed.sampler.list(searchParams.get('module'));
    return createJson({ interval_ms: SAMPLE_MS, samples });
  }

  async #describeHost(actor: Actor): Promise<Response> {
    const version = this.#version;
    if (!hasScope(actor, MODULES_SCOPE)) return createJson({ version });
    const { modules, workers, fleet } = await this.#context.host.snapshot();
    const states: Record<string, number> = {};
    for (const { state } of modules) states[state] = (states[state] ?? 0) + 1;
    return createJson({
      version,
      node: process.version,
      started_at: this.#startedAt,
      workers,
      fleet,
      modules: modules.length,
      states,
    });
  }
}

function readSessionCookie(request: Request, call: SurfaceCall): string | null {
  return readCookie(SESSION_COOKIE, call.origin, request.headers.get('cookie'));
}

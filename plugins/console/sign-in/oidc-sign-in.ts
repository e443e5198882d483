import { timingSafeEqual } from 'node:crypto';
import {
  isSurfaceError,
  type Log,
  type SurfaceCall,
  type SurfaceContext,
  SurfaceError,
} from '../../../core/contract/index.js';
import { createRedirect } from '../api/json.js';
import type { OidcIssuerConfig } from '../config.js';
import { CONSOLE, OIDC } from '../paths.js';
import { formatCookie, OIDC_COOKIE, readCookie } from '../sessions/session-cookie.js';
import { OidcClient } from './oidc-client.js';
import { OidcCookies, PENDING_SECONDS, type PendingSignIn } from './oidc-cookie.js';
import type { SignIn } from './sign-in.js';

const CALLBACK = `${OIDC}/callback`;
const WARN_INTERVAL_MS = 1000;
/** A page of the console; nothing else may be the target of the redirect. */
const PAGE = /^\/console(?:[/?][\w!$&'()*+,\-./:;=?@~%]*)?$/;

/** Why a sign-in did not succeed, as the page shows it. */
type Failure = 'denied' | 'expired' | 'failed' | 'unavailable';

/** Signing in at an issuer: OpenID Connect, authorization code with PKCE. */
export class OidcSignIn {
  readonly #clients: ReadonlyMap<string, OidcClient>;
  readonly #cookies: OidcCookies;
  readonly #signIn: SignIn;
  readonly #log: Log;
  readonly #warnedAt = new Map<string, number>();

  constructor(
    issuers: readonly OidcIssuerConfig[],
    context: Pick<SurfaceContext, 'records' | 'log' | 'secret' | 'issuers'>,
    signIn: SignIn,
  ) {
    assertTrusted(issuers, context.issuers);
    this.#clients = new Map(
      issuers.map((config) => {
        const { client_secret: reference } = config;
        const secret = reference === undefined ? null : context.secret(reference);
        return [config.issuer, new OidcClient(config, secret)];
      }),
    );
    this.#cookies = new OidcCookies(context.records);
    this.#signIn = signIn;
    this.#log = context.log;
  }

  /** `GET /console/api/oidc/start?issuer=&return=`: sends the browser to the issuer. */
  async start(request: Request, { origin }: SurfaceCall): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const client = this.#clients.get(searchParams.get('issuer') ?? '');
    if (client === undefined) {
      throw new SurfaceError('validation_failed', 'the console has no such issuer', {
        errors: [{ field: 'issuer', reason: 'not configured' }],
        nextActions: ['see GET /console/api/sign-in'],
      });
    }
    if (origin === null) {
      throw new SurfaceError('forbidden', 'the host does not know its address: set --public-url');
    }
    const wanted = searchParams.get('return') ?? CONSOLE;
    const page = PAGE.test(wanted) ? wanted : CONSOLE;
    try {
      const { url, checks } = await client.begin(origin + CALLBACK);
      const value = await this.#cookies.encrypt({ issuer: client.issuer, ...checks, page });
      const cookie = formatCookie(OIDC_COOKIE, origin, value, PENDING_SECONDS);
      return createRedirect(url.href, [cookie]);
    } catch (error) {
      if (isSurfaceError(error)) throw error;
      this.#warn({ err: error, issuer: client.issuer }, 'issuer does not answer');
      throw new SurfaceError('unavailable', 'the issuer does not answer', {
        nextActions: ['try again later'],
        headers: { 'retry-after': '5' },
      });
    }
  }

  /** `GET /console/api/oidc/callback`: the browser comes back from the issuer. */
  async finish(request: Request, call: SurfaceCall): Promise<Response> {
    const { origin } = call;
    if (origin === null) {
      throw new SurfaceError('forbidden', 'the host does not know its address: set --public-url');
    }
    const done = formatCookie(OIDC_COOKIE, origin, '', 0);
    const fail = (why: Failure) => createRedirect(`${CONSOLE}?sign_in=${why}`, [done]);
    const cookie = readCookie(OIDC_COOKIE, origin, request.headers.get('cookie'));
    const pending = cookie === null ? null : await this.#cookies.decrypt(cookie);
    const client = pending && this.#clients.get(pending.issuer);
    if (pending === null || !client) return fail('expired');
    const answer = new URL(`${origin}${CALLBACK}${new URL(request.url).search}`);
    // Before anything else: without its state the answer belongs to another browser.
    if (!hasState(answer, pending)) return fail('failed');
    if (answer.searchParams.get('error') === 'access_denied') return fail('denied');
    try {
      const token = await client.finish(answer, pending);
      const session = await this.#signIn.begin(token, 'oidc', request, call);
      return createRedirect(pending.page, [done, session]);
    } catch (error) {
      const isRejected = isSurfaceError(error) && error.code === 'unauthorized';
      const hint = isRejected ? 'the issuers file has to accept the access token' : null;
      this.#warn({ err: error, issuer: pending.issuer, hint }, 'sign-in failed');
      const isDown = isSurfaceError(error) && error.code === 'unavailable';
      return fail(isDown ? 'unavailable' : 'failed');
    }
  }

  /** Requests without credentials lead here: at most one line a second for each issuer. */
  #warn(fields: { readonly issuer: string; readonly [name: string]: unknown }, message: string) {
    const now = performance.now();
    const warnedAt = this.#warnedAt.get(fields.issuer) ?? Number.NEGATIVE_INFINITY;
    if (now - warnedAt < WARN_INTERVAL_MS) return;
    this.#warnedAt.set(fields.issuer, now);
    this.#log.warn(fields, message);
  }
}

/** @throws SurfaceError for an issuer whose access tokens the host would reject. */
function assertTrusted(issuers: readonly OidcIssuerConfig[], trusted: readonly string[]): void {
  const unknown = issuers.find(({ issuer }) => !trusted.includes(issuer));
  if (unknown === undefined) return;
  const where = `surfaces.console.oidc names the issuer '${unknown.issuer}'`;
  throw new SurfaceError('validation_failed', `${where}: add it to the issuers file`);
}

function hasState({ searchParams }: URL, { state }: PendingSignIn): boolean {
  const [given = '', ...others] = searchParams.getAll('state');
  if (others.length > 0 || given.length !== state.length) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(state));
}

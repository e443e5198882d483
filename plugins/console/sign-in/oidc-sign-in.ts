import { createHash } from 'node:crypto';
import {
  isSurfaceError,
  type SurfaceCall,
  SurfaceError,
  type SurfaceRecords,
} from '../../../core/contract/index.js';
import { parseUrl } from '../../shared/parse-url.js';
import { createRedirect } from '../api/json.js';
import { CONSOLE } from '../paths.js';
import { ClientShares } from './client-shares.js';
import { isLate, OidcCookies, PENDING_SECONDS, type PendingSignIn } from './oidc-cookie.js';
import type { OidcIssuers } from './oidc-issuers.js';
import type { SignIn } from './sign-in.js';

/** The maximum number of used states; they expire after 10 minutes in any case. */
const MAX_USED = 10_000;
/**
 * The maximum of used states in the store, where other processes see them. Anonymous clients create
 * them, so they must leave room for sessions; above it, each process uses only its own.
 */
const MAX_STORED_USED = 100;
const USED_PREFIX = 'oidc-used:';
const STORED_MS = PENDING_SECONDS * 1000;
/** A page of the console, the only allowed target of the redirect. */
const PAGE = /^\/console(?:[/?][\w!$&'()*+,\-./:;=?@~%]{0,1024})?$/;

/** The reason of a failed sign-in, which the page shows. */
type Failure = 'denied' | 'expired' | 'failed' | 'unavailable' | 'limited';

/** Sign-in at an issuer: OpenID Connect, authorization code with PKCE. */
export class OidcSignIn {
  readonly #issuers: OidcIssuers;
  readonly #cookies: OidcCookies;
  readonly #signIn: SignIn;
  /** States whose response has arrived. */
  readonly #used = new Set<string>();
  readonly #shares = new ClientShares();
  readonly #records: SurfaceRecords;
  #stored = { count: 0, since: Number.NEGATIVE_INFINITY };

  constructor(issuers: OidcIssuers, records: SurfaceRecords, signIn: SignIn) {
    this.#issuers = issuers;
    this.#records = records;
    this.#cookies = new OidcCookies(records);
    this.#signIn = signIn;
  }

  /** Handles `GET /console/api/oidc/start?issuer=&return=`: redirects the browser to the issuer. */
  start(request: Request, call: SurfaceCall): Promise<Response> {
    const start = () => this.#start(request, call);
    return showFailure(() => this.#shares.run(call.network, start));
  }

  async #start(request: Request, { origin }: SurfaceCall): Promise<Response> {
    const { searchParams } = parseUrl(request.url);
    const client = this.#issuers.find(searchParams.get('issuer') ?? '');
    if (client === undefined) {
      throw new SurfaceError('validation_failed', 'the console has no such issuer', {
        errors: [{ field: 'issuer', reason: 'not configured' }],
        nextActions: ['see GET /console/api/sign-in'],
      });
    }
    if (origin === null) {
      throw new SurfaceError('forbidden', 'the host does not know its address: set --public-url');
    }
    const returnPath = searchParams.get('return') ?? CONSOLE;
    const page = PAGE.test(returnPath) ? returnPath : CONSOLE;
    try {
      const { url, checks, callback } = await client.begin(origin);
      const pending = { issuer: client.issuer, ...checks, callback, page };
      const header = request.headers.get('cookie');
      return createRedirect(url.href, await this.#cookies.begin(pending, origin, header));
    } catch (error) {
      if (isSurfaceError(error)) throw error;
      this.#issuers.warn({ err: error, issuer: client.issuer }, 'issuer does not answer');
      throw new SurfaceError('unavailable', 'the issuer does not answer', {
        nextActions: ['try again later'],
        headers: { 'retry-after': '5' },
      });
    }
  }

  /** Handles `GET /console/api/oidc/callback`: the browser returns from the issuer. */
  finish(request: Request, call: SurfaceCall): Promise<Response> {
    const finish = () => this.#finish(request, call);
    return showFailure(() => this.#shares.run(call.network, finish));
  }

  async #finish(request: Request, call: SurfaceCall): Promise<Response> {
    const { origin } = call;
    if (origin === null) {
      throw new SurfaceError('forbidden', 'the host does not know its address: set --public-url');
    }
    const { pathname, search, searchParams } = parseUrl(request.url);
    const [state = '', ...otherStates] = searchParams.getAll('state');
    const isSingle = otherStates.length === 0;
    const header = request.headers.get('cookie');
    const pending = isSingle ? await this.#cookies.find(state, origin, header) : null;
    const fail = async (why: Failure, cookies: string[] = []) =>
      // Another tab may have signed in.
      (await this.#signIn.isSignedIn(request, call))
        ? createRedirect(pending?.page ?? CONSOLE, cookies)
        : redirectToSignIn(why, cookies);
    const client = pending && this.#issuers.find(pending.issuer);
    // Without a pending sign-in, the response belongs to another browser, or to a finished one.
    if (pending === null || !client) return fail(isSingle && isLate(state) ? 'expired' : 'failed');
    // The path identifies the issuer of the response.
    if (pathname !== pending.callback) return fail('failed');
    const done = [this.#cookies.end(state, origin)];
    if (searchParams.get('error') === 'access_denied') return fail('denied', done);
    // Each response makes a request with the secret of the client, so a state is accepted once.
    if (this.#used.has(state)) return fail('failed', done);
    this.#shares.countExchange(call.network);
    this.#remember(state);
    try {
      if (!(await this.#isFirstUse(pending))) return fail('failed', done);
      const tokens = await client.finish(new URL(`${origin}${pathname}${search}`), pending);
      const session = await this.#signIn.withIssued(client.issuer, tokens, request, call);
      return createRedirect(pending.page, [...done, session]);
    } catch (error) {
      const isRejected = isSurfaceError(error) && error.code === 'unauthorized';
      const hint = isRejected ? 'the issuers file has to accept the access token' : null;
      this.#issuers.warn({ err: error, issuer: pending.issuer, hint }, 'sign-in failed');
      const isDown = isSurfaceError(error) && error.code === 'unavailable';
      return await fail(isDown ? 'unavailable' : 'failed', done);
    }
  }

  #remember(state: string): void {
    this.#used.add(state);
    for (const oldest of this.#used) {
      if (this.#used.size <= MAX_USED) break;
      this.#used.delete(oldest);
    }
  }

  /**
   * Whether no other process has used the state. @throws SurfaceError while the store does not
   * respond.
   */
  async #isFirstUse({ state, expiresAt }: PendingSignIn): Promise<boolean> {
    const now = performance.now();
    if (now - this.#stored.since >= STORED_MS) this.#stored = { count: 0, since: now };
    if (this.#stored.count >= MAX_STORED_USED) return true;
    this.#stored.count += 1;
    const digest = createHash('sha256').update(state).digest('base64url');
    return this.#records.set(USED_PREFIX + digest, true, { expiresAt, only: 'absent' });
  }
}

/** People follow these links in the browser: a failure that will pass is shown by the sign-in page. */
async function showFailure(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!isSurfaceError(error)) throw error;
    if (error.code === 'rate_limited') return redirectToSignIn('limited', []);
    if (error.code === 'unavailable') return redirectToSignIn('unavailable', []);
    throw error;
  }
}

function redirectToSignIn(why: Failure, cookies: string[]): Response {
  return createRedirect(`${CONSOLE}?sign_in=${why}`, cookies);
}

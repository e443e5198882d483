import {
  type Actor,
  type HostApi,
  isSurfaceError,
  type Manifest,
  type SurfaceCall,
  type SurfaceContext,
  SurfaceError,
} from '../../../core/contract/index.js';
import { createNotFound } from '../../shared/surface-errors.js';
import { createEmpty, createJson, readJsonObject } from '../api/json.js';
import { CONSOLE } from '../paths.js';
import { formatCookie, readCookie, SESSION_COOKIE } from '../sessions/session-cookie.js';
import { recordKey } from '../sessions/session-record.js';
import type { Sessions } from '../sessions/sessions.js';
import type { IssuedTokens } from '../sessions/token-renewal.js';

const MAX_TOKEN_LENGTH = 16_384;
const UNAVAILABLE =
  'people sign in over TLS or on loopback only: set --public-url to the https origin of this host';

interface SignInContext extends Pick<SurfaceContext, 'authenticate'> {
  readonly host: Pick<HostApi, 'snapshot'>;
}

interface SignInIssuer {
  readonly issuer: string;
  readonly name: string;
}

/** Sign-in with a token, or as developer. */
export class SignIn {
  readonly #sessions: Sessions;
  readonly #context: SignInContext;
  readonly #issuers: readonly SignInIssuer[];

  constructor(sessions: Sessions, context: SignInContext, issuers: readonly SignInIssuer[]) {
    this.#sessions = sessions;
    this.#context = context;
    this.#issuers = issuers;
  }

  /** Lists the ways to sign in for people without a session. */
  async describe(call: SurfaceCall): Promise<Response> {
    const { origin } = call;
    return createJson({
      available: origin !== null,
      reason: origin === null ? UNAVAILABLE : null,
      token: true,
      developer: (await this.#findDeveloper(call)) !== null,
      oidc: this.#issuers,
    });
  }

  async withToken(request: Request, call: SurfaceCall): Promise<Response> {
    const { token } = await readJsonObject(request);
    if (typeof token !== 'string' || token === '' || token.length > MAX_TOKEN_LENGTH) {
      throw new SurfaceError('validation_failed', 'the body has no token', {
        errors: [{ field: 'token', reason: 'not a text of 1 to 16384 characters' }],
      });
    }
    const begin = () => this.#sessions.begin(token, 'token', call);
    return createEmpty([await this.#replace(request, call, begin)]);
  }

  /** @throws SurfaceError 404 without development tokens. */
  async assertDeveloper(call: SurfaceCall): Promise<void> {
    if ((await this.#findDeveloper(call)) === null) throw createNotFound(CONSOLE);
  }

  async asDeveloper(request: Request, call: SurfaceCall): Promise<Response> {
    const { modules } = await this.#context.host.snapshot();
    const token = createDeveloperToken(modules.flatMap(({ manifest }) => manifest ?? []));
    const begin = () => this.#sessions.begin(token, 'developer', call);
    return createEmpty([await this.#replace(request, call, begin)]);
  }

  /** Begins a session with the tokens of an issuer. @returns the value of `set-cookie` */
  withIssued(
    issuer: string,
    { accessToken, refreshToken, expiresAt }: IssuedTokens,
    request: Request,
    call: SurfaceCall,
  ): Promise<string> {
    const renewable =
      refreshToken === null ? null : { issuer, accessToken, refreshToken, expiresAt };
    return this.#replace(request, call, () =>
      this.#sessions.begin(accessToken, 'oidc', call, renewable),
    );
  }

  /**
   * Begins a session; the previous one of the browser ends. Its refresh token is not revoked: the
   * issuer might then also end later sign-ins of the same person.
   * @returns the value of `set-cookie`.
   * @throws SurfaceError 401, 403, 503.
   */
  async #replace(
    request: Request,
    { origin }: SurfaceCall,
    begin: () => Promise<string | null>,
  ): Promise<string> {
    if (origin === null) throw createUnknownOrigin();
    const cookie = await begin();
    if (cookie === null) throw createRejectedToken();
    const before = readCookie(SESSION_COOKIE, origin, request.headers.get('cookie'));
    const key = before === null ? null : recordKey(before);
    if (key !== null) await this.#sessions.end(key, 'signed_out');
    return formatCookie(SESSION_COOKIE, origin, cookie, null);
  }

  /** Whether the browser has a session. */
  async isSignedIn(request: Request, call: SurfaceCall): Promise<boolean> {
    const cookie = readCookie(SESSION_COOKIE, call.origin, request.headers.get('cookie'));
    return cookie !== null && (await this.#sessions.find(cookie, false, call)) !== null;
  }

  /** Returns `null` without development tokens. */
  async #findDeveloper(call: SurfaceCall): Promise<Actor | null> {
    try {
      const token = createDeveloperToken([]);
      return await this.#context.authenticate({ scheme: 'bearer', token }, call, { isKept: true });
    } catch (error) {
      // Another authenticator does not respond.
      if (isSurfaceError(error)) return null;
      throw error;
    }
  }
}

/** Creates a 403 for a host that does not know its public origin. */
export function createUnknownOrigin(): SurfaceError {
  return new SurfaceError('forbidden', UNAVAILABLE, {
    errors: [{ field: 'public-url', reason: 'not set' }],
    nextActions: ['ask the operators of the host to set --public-url'],
  });
}

function createRejectedToken(): SurfaceError {
  return new SurfaceError('unauthorized', 'the token is not valid', {
    errors: [{ field: 'token', reason: 'not valid' }],
    nextActions: ['sign in with a valid bearer token'],
    headers: { 'www-authenticate': 'Session' },
  });
}

/** The scopes of the host's own routes and of consoles. */
const HOST_SCOPES = [
  'console.admin',
  'modgate.approvals',
  'modgate.audit.read',
  'modgate.calls.read',
  'modgate.explain',
  'modgate.metrics.read',
  'modgate.modules.read',
  'modgate.plugins.read',
  'modgate.releases',
  'modgate.sessions',
] as const;
/** The length is below the limit of the authenticator for development tokens. */
const MAX_LENGTH = 7000;

/** Creates a development token of a user with all capabilities of these modules. */
function createDeveloperToken(manifests: readonly Manifest[]): string {
  const capabilities = manifests.flatMap((manifest) => manifest.capabilities);
  const scopes = [...new Set([...HOST_SCOPES, ...capabilities])].join(',');
  const token = `dev-user:developer:${scopes}`;
  // A system needs no scopes, although it is not a person.
  return token.length > MAX_LENGTH ? 'dev-system:developer' : token;
}

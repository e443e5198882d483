import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

export const AUDIENCE = 'urn:modgate:console';
export const CONSOLE_CLIENT = { id: 'console', secret: 'secret-of-the-console' };

/** A certified OpenID provider at which everybody is `ann` at once, or cancels. */
export interface SignInProvider {
  readonly issuer: string;
  /** The requests to the token endpoint, oldest first. */
  readonly exchanges: readonly URLSearchParams[];
  /** The tokens that were revoked, oldest first. */
  readonly revoked: readonly string[];
  /** Begins to serve, for one client with this redirect URI. */
  serve(redirectUri: string): void;
  /** The result of the next interactions; default `sign-in`. */
  outcome:
    | 'sign-in'
    | 'cancel'
    | 'server-error'
    | 'other-state'
    | 'other-nonce'
    | 'other-signature'
    | 'down';
  close(): Promise<void>;
}

/** @param renewable the lifetime of access tokens with a refresh token; default: none come with them */
export async function startSignInProvider(
  renewable: { readonly tokenSeconds: number } | null = null,
): Promise<SignInProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const exchanges: URLSearchParams[] = [];
  const revocations: URLSearchParams[] = [];
  const key = await createKey();
  // Answers with the keys until the client is known.
  let oidc = new Provider(issuer, createConfiguration(key, `${issuer}/none`, renewable));
  let answer = oidc.callback();
  server.on('request', (request, response) => {
    const { outcome } = provider;
    if (outcome === 'down') {
      response.writeHead(503).end();
      return;
    }
    if (request.url === '/token') recordBody(request, exchanges);
    if (request.url === '/token/revocation') recordBody(request, revocations);
    if (outcome === 'other-signature' && request.url === '/token') changeSignature(response);
    if (outcome === 'other-nonce') request.url = request.url?.replace(/nonce=[^&]*/, 'nonce=other');
    if (!request.url?.startsWith('/interaction/')) void answer(request, response);
    else if (outcome === 'other-state') redirect(response, `${callback}?code=x&state=other`);
    else void finish(oidc, request, response, outcome);
  });
  let callback = '';
  const provider: SignInProvider = {
    issuer,
    exchanges,
    get revoked() {
      return revocations.map((body) => body.get('token') ?? '');
    },
    outcome: 'sign-in',
    serve: (redirectUri) => {
      callback = redirectUri;
      oidc = new Provider(issuer, createConfiguration(key, redirectUri, renewable));
      answer = oidc.callback();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return provider;
}

/** Reverses the signature of an ID token. */
function changeSignature(response: ServerResponse): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse;
  const change = (body: unknown) =>
    end(
      String(body).replace(
        /("id_token":"[^"]*\.)([^".]*)/,
        (_, rest: string, signature: string) => rest + [...signature].reverse().join(''),
      ),
    );
  Object.assign(response, { end: change });
}

/** Registered besides the provider, which reads the same stream. */
function recordBody(request: IncomingMessage, exchanges: URLSearchParams[]): void {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => exchanges.push(new URLSearchParams(text)));
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location }).end();
}

async function finish(
  oidc: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  outcome: SignInProvider['outcome'],
): Promise<void> {
  const options = { mergeWithLastSubmission: false };
  if (outcome === 'cancel' || outcome === 'server-error') {
    const name = outcome === 'cancel' ? 'access_denied' : 'server_error';
    const error = { error: name, error_description: outcome };
    await oidc.interactionFinished(request, response, error, options);
    return;
  }
  const grant = new oidc.Grant({ accountId: 'ann', clientId: CONSOLE_CLIENT.id });
  grant.addOIDCScope('openid');
  grant.addResourceScope(AUDIENCE, 'modgate.modules.read');
  const result = { login: { accountId: 'ann' }, consent: { grantId: await grant.save() } };
  await oidc.interactionFinished(request, response, result, options);
}

async function createKey(): Promise<object> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'signing' };
}

function createConfiguration(
  key: object,
  redirectUri: string,
  renewable: { readonly tokenSeconds: number } | null,
): object {
  const grants = ['authorization_code', ...(renewable === null ? [] : ['refresh_token'])];
  return {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: CONSOLE_CLIENT.id,
        client_secret: CONSOLE_CLIENT.secret,
        grant_types: grants,
        response_types: ['code'],
        redirect_uris: [redirectUri],
      },
    ],
    cookies: { keys: ['a key of the test'] },
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_ctx: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id }),
    }),
    issueRefreshToken: async () => renewable !== null,
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx: unknown, audience: string) => ({
          scope: 'modgate.modules.read',
          audience,
          accessTokenTTL: renewable?.tokenSeconds ?? 120,
          accessTokenFormat: 'jwt',
        }),
        useGrantedResource: () => true,
      },
    },
  };
}

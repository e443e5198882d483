import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

/** Audiences of the tokens of each format. */
export const JWT_AUDIENCE = 'urn:modgate:jwt';
export const OPAQUE_AUDIENCE = 'urn:modgate:opaque';

export const CLIENT = { id: 'shop', secret: 'secret-of-the-shop' };
/** The client that may introspect tokens. */
export const GATEWAY = { id: 'modgate', secret: 'secret:of&the gateway' };

export interface OpenIdProvider {
  readonly issuer: string;
  /** How often tokens were introspected. */
  readonly introspections: number;
  /** A token by client credentials. */
  requestToken(audience: string, scope: string): Promise<string>;
  revoke(token: string): Promise<void>;
  /** Rejects every request except those for tokens with 503. */
  fail(isFailing: boolean): void;
  close(): Promise<void>;
}

/** A certified OpenID provider, with one client and two kinds of access tokens. */
/** @param others clients beside the two, with the members of oidc-provider */
export async function startOpenIdProvider(others: readonly object[] = []): Promise<OpenIdProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = new Provider(issuer, await createConfiguration(others)).callback();
  let introspections = 0;
  let isFailing = false;
  server.on('request', (request, response) => {
    const isToken = request.url === '/token';
    if (request.url?.endsWith('/introspection')) introspections += 1;
    if (isFailing && !isToken) response.writeHead(503).end();
    else void answer(request, response);
  });
  const post = async (path: string, client: typeof CLIENT, body: Record<string, string>) => {
    const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
    const credentials = `${encode(client.id)}:${encode(client.secret)}`;
    const response = await fetch(issuer + path, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: new URLSearchParams(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return text;
  };
  return {
    issuer,
    get introspections() {
      return introspections;
    },
    requestToken: async (audience, scope) => {
      const grant = { grant_type: 'client_credentials', resource: audience, scope };
      return JSON.parse(await post('/token', CLIENT, grant)).access_token as string;
    },
    revoke: async (token) => {
      await post('/token/revocation', CLIENT, { token });
    },
    fail: (now) => {
      isFailing = now;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function createConfiguration(others: readonly object[]): Promise<object> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'signing' };
  const client = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
  return {
    jwks: { keys: [key] },
    clients: [
      ...[CLIENT, GATEWAY].map(({ id, secret }) => ({
        ...client,
        client_id: id,
        client_secret: secret,
      })),
      ...others.map((other) => ({ ...client, ...other })),
    ],
    // Tests use keys of every kind.
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    enabledJWA: { clientAuthSigningAlgValues: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx: unknown, audience: string) => ({
          scope: 'crm.read crm.write',
          audience,
          accessTokenTTL: 120,
          accessTokenFormat: audience === JWT_AUDIENCE ? 'jwt' : 'opaque',
        }),
      },
    },
  };
}

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { Secret } from '../../../core/contract/index.js';
import { OidcClient } from '../../../plugins/console/sign-in/oidc-client.js';
import { createSigningKey, type SigningKey, signToken } from '../../support/fake-issuer.js';

const ORIGIN = 'http://127.0.0.1:1';
const SECRET = 's e+c:r%t';

/** An issuer whose metadata and token response the tests change. */
describe('a sign-in whose issuer', () => {
  let key: SigningKey;
  let server: Server;
  let issuer: string;
  let nonce: string;
  let metadata: object;
  let answer: object;
  let status: number;
  let received: { headers: IncomingHttpHeaders; form: URLSearchParams };

  before(async () => {
    key = await createSigningKey('one');
    server = createServer(async (request, response) => {
      const paths: Record<string, () => object | Promise<object>> = {
        '/.well-known/openid-configuration': () => ({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          ...metadata,
        }),
        '/jwks': () => ({ keys: [key.jwk] }),
        '/token': async () => {
          received = { headers: request.headers, form: new URLSearchParams(await text(request)) };
          response.statusCode = status;
          const id_token = await signToken(key, { iss: issuer, aud: 'console', nonce });
          return { access_token: 'opaque', token_type: 'Bearer', id_token, ...answer };
        },
      };
      const body = JSON.stringify(await paths[request.url ?? '']?.());
      response.setHeader('content-type', 'application/json').end(body);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  beforeEach(() => {
    [metadata, answer, status] = [{}, {}, 200];
  });

  after(() => {
    server.close();
    server.closeAllConnections();
  });

  async function signIn() {
    const config = { issuer, client_id: 'console', client_secret: 'env:SECRET' } as const;
    const client = new OidcClient(config, () => new Secret(SECRET), true);
    const { checks, callback } = await client.begin(ORIGIN);
    nonce = checks.nonce;
    const query = new URLSearchParams({ code: 'c', state: checks.state });
    return client.finish(new URL(`${ORIGIN}${callback}?${query}`), checks);
  }

  for (const [title, change] of [
    ['leaves out the type of the token', { token_type: undefined }],
    ['sends null for what it leaves out', { expires_in: null, refresh_token: null, scope: null }],
    ['sends the lifetime as text', { expires_in: '300' }],
  ] as const) {
    it(`${title} succeeds`, async () => {
      answer = change;
      expect(await signIn()).to.include({ accessToken: 'opaque', refreshToken: null });
    });
  }

  it('responds with 201 succeeds, with the refresh token', async () => {
    status = 201;
    answer = { refresh_token: 'again' };
    expect(await signIn()).to.include({ accessToken: 'opaque', refreshToken: 'again' });
  });

  it('sends an unusable member fails, and names it', async () => {
    answer = { token_type: 'DPoP' };
    const error = await signIn().catch((reason: unknown) => reason as Error);
    expect(String((error as Error).message)).to.include('token_type is not bearer');
  });

  it('responds with an error fails, whatever the status', async () => {
    answer = { access_token: undefined, error: 'invalid_grant' };
    for (status of [200, 400]) {
      const error = await signIn().catch((reason: unknown) => reason as Error);
      expect(error).to.be.an('error');
    }
  });

  for (const [title, methods, isPost] of [
    ['lists only the form', ['client_secret_post'], true],
    ['lists both', ['client_secret_post', 'client_secret_basic'], false],
    ['lists neither', undefined, false],
  ] as const) {
    it(`${title} gets the secret ${isPost ? 'in the form' : 'by Basic authentication'}`, async () => {
      metadata = { token_endpoint_auth_methods_supported: methods };
      await signIn();
      expect(received.form.get('client_secret')).to.equal(isPost ? SECRET : null);
      expect(received.headers.authorization === undefined).to.equal(isPost);
    });
  }
});

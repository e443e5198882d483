import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { isProviderFailure, type ProviderFailure } from '../../../core/contract/index.js';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';
import { CLIENT, JWT_AUDIENCE, startOpenIdProvider } from '../../support/openid-provider.js';
import { useExchange } from '../../support/provider/use-exchange.js';
import { answerJson, type ScriptedProvider, startProvider } from '../../support/provider.js';
import { use } from '../../support/use.js';
import { createInvocation, openAdapter } from '../open-adapter.js';

const SECRETS = { 'env:SECRET': 'secret' };

describe('http adapter: OAuth 2 client credentials', () => {
  const { keep, openOn } = useExchange();
  const configure = (url: string, overrides: object = {}) => ({
    auth: {
      oauth2: {
        token_url: `${url}/token`,
        client_id: 'me',
        client_secret: 'env:SECRET',
        ...overrides,
      },
    },
  });
  /** Tokens `token-1`, `token-2`, … */
  const startIssuer = async (overrides: object = {}) => {
    const issuer: ScriptedProvider = await keep(
      startProvider((request, response) => {
        const access_token = `token-${issuer.requests.length}`;
        answerJson({ access_token, token_type: 'Bearer', expires_in: 3600, ...overrides })(
          request,
          response,
        );
      }),
    );
    return issuer;
  };
  const failureOf = async (work: Promise<unknown>): Promise<ProviderFailure> => {
    try {
      await work;
    } catch (error) {
      if (isProviderFailure(error)) return error;
      throw error;
    }
    throw new Error('it did not fail');
  };
  const tokensOf = ({ requests }: ScriptedProvider) =>
    requests.map(({ headers }) => headers.authorization);

  it('requests a token once and sends it with every request', async () => {
    const issuer = await startIssuer();
    const upstream = await keep(startProvider());
    const overrides = { scopes: ['crm.read', 'crm.write'], audience: 'crm', resource: 'urn:crm' };
    const config = { ...configure(issuer.url, overrides), health: { path: '/health' } };
    const provider = await openOn(upstream.url, config, SECRETS);
    expect(issuer.requests).to.have.length(0);
    await Promise.all([1, 2, 3].map(() => provider.invoke(createInvocation())));
    await provider.check(new AbortController().signal);
    await provider.manifest(new AbortController().signal);
    expect(tokensOf(upstream)).to.deep.equal(Array(5).fill('Bearer token-1'));
    const [request, ...others] = issuer.requests;
    expect(others).to.deep.equal([]);
    expect(request?.method).to.equal('POST');
    expect(request?.headers.authorization).to.equal(`Basic ${btoa('me:secret')}`);
    expect(Object.fromEntries(new URLSearchParams(request?.body.toString()))).to.deep.equal({
      grant_type: 'client_credentials',
      scope: 'crm.read crm.write',
      audience: 'crm',
      resource: 'urn:crm',
    });
  });

  it('sends the secret in the form with client_auth: post', async () => {
    const issuer = await startIssuer();
    const upstream = await keep(startProvider());
    const config = configure(issuer.url, { client_auth: 'post' });
    const provider = await openOn(upstream.url, config, SECRETS);
    await provider.invoke(createInvocation());
    expect(issuer.requests[0]?.headers).to.not.have.property('authorization');
    const form = new URLSearchParams(issuer.requests[0]?.body.toString());
    expect(form.get('client_id')).to.equal('me');
    expect(form.get('client_secret')).to.equal('secret');
  });

  describe('a 401 of the provider', () => {
    /** Rejects the tokens. */
    const startStrict = (...bad: readonly string[]) =>
      keep(
        startProvider((request, response) => {
          const isBad = bad.includes(request.headers.authorization ?? '');
          response.statusCode = isBad ? 401 : 200;
          answerJson({})(request, response);
        }),
      );

    it('drops the token, and the call is made once more with a new one', async () => {
      const issuer = await startIssuer();
      const upstream = await startStrict('Bearer token-1');
      const provider = await openOn(upstream.url, configure(issuer.url), SECRETS);
      const body = Buffer.from('{"a":1}');
      const outcome = await provider.invoke(createInvocation({ method: 'POST', body }));
      expect(outcome.status).to.equal(200);
      expect(outcome.secrets?.map((secret) => secret.reveal())).to.deep.equal(['token-2']);
      expect(tokensOf(upstream)).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
      expect(upstream.requests.map((request) => request.body.toString())).to.deep.equal(
        Array(2).fill('{"a":1}'),
      );
    });

    it('is passed on where the new token is rejected as well, without another request', async () => {
      const issuer = await startIssuer();
      const upstream = await startStrict('Bearer token-1', 'Bearer token-2');
      const provider = await openOn(upstream.url, configure(issuer.url), SECRETS);
      for (const _ of [1, 2]) {
        expect((await provider.invoke(createInvocation())).status).to.equal(401);
      }
      expect(issuer.requests).to.have.length(2);
      expect(upstream.requests).to.have.length(3);
    });

    it('drops the token, and a call with a streamed body is not repeated', async () => {
      const issuer = await startIssuer();
      const upstream = await startStrict('Bearer token-1');
      const provider = await openOn(upstream.url, configure(issuer.url), SECRETS);
      async function* bodyStream() {
        yield Buffer.from('abc');
      }
      const streamed = { method: 'POST', body: null, bodyStream: bodyStream() } as const;
      expect((await provider.invoke(createInvocation(streamed))).status).to.equal(401);
      expect((await provider.invoke(createInvocation())).status).to.equal(200);
      expect(tokensOf(upstream)).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
    });
  });

  describe('a token endpoint', () => {
    const FAILURES: readonly [string, Parameters<typeof startProvider>[0], string, string][] = [
      [
        'that rejects the client',
        (_request, response) => {
          response.writeHead(401, { 'www-authenticate': 'Basic' });
          response.end('{"error":"invalid_client","error_description":"hush-hush"}');
        },
        'unavailable',
        'invalid_client',
      ],
      [
        'that is down',
        (_request, response) => response.writeHead(503).end('<html>'),
        'unavailable',
        'status 503',
      ],
      [
        'that redirects',
        (request, response) => {
          const location = `http://${request.headers.host}/elsewhere`;
          response.writeHead(307, { location }).end();
        },
        'unavailable',
        'status 307',
      ],
      [
        'that closes the connection',
        (request) => request.socket.destroy(),
        'unavailable',
        'connection closed',
      ],
      [
        'that answers 64 KiB and more',
        answerJson({ access_token: 'a', token_type: 'Bearer', more: 'x'.repeat(65_536) }),
        'protocol',
        'response is over 65536 bytes',
      ],
      [
        'that answers no JSON',
        (_r, response) => response.end('no'),
        'protocol',
        'response is not a JSON object',
      ],
      [
        'that gives no token',
        answerJson({ token_type: 'Bearer' }),
        'protocol',
        'access_token is missing',
      ],
      [
        'that gives a token of another type',
        answerJson({ access_token: 'hush-hush', token_type: 'dpop' }),
        'protocol',
        'token_type is not bearer',
      ],
      [
        'that gives a token with a space',
        answerJson({ access_token: 'hush hush-hush', token_type: 'Bearer' }),
        'protocol',
        'access_token is not visible ASCII',
      ],
      [
        'whose error is a sentence',
        (_request, response) => response.writeHead(400).end('{"error":"hush-hush, said it"}'),
        'unavailable',
        'status 400',
      ],
    ];
    for (const [title, answer, failure, detail] of FAILURES) {
      it(`${title} fails the call, and gets no further request soon`, async () => {
        const issuer = await keep(startProvider(answer));
        const upstream = await keep(startProvider());
        const opened = await openAdapter(
          httpAdapter,
          { endpoints: [upstream.url], ...configure(issuer.url) },
          { secrets: SECRETS },
        );
        const first = await failureOf(opened.provider.invoke(createInvocation()));
        expect(first).to.include({ failure, phase: 'preparing' });
        expect(first.detail)
          .to.match(/^token endpoint: /)
          .and.to.include(detail);
        const second = await failureOf(opened.provider.invoke(createInvocation()));
        expect(second.detail).to.equal(first.detail);
        expect(issuer.requests).to.have.length(1);
        expect(upstream.requests).to.have.length(0);
        const [line, ...others] = opened.entries;
        expect(others).to.deep.equal([]);
        expect(line).to.deep.include({ level: 'warn', message: 'token request failed' });
        expect(JSON.stringify(line)).to.not.include('hush-hush');
        await opened.close();
      });
    }

    it('fails the call with the network error if nothing listens', async () => {
      const upstream = await keep(startProvider());
      const closed = await startProvider();
      await closed.stop();
      const provider = await openOn(upstream.url, configure(closed.url), SECRETS);
      const failure = await failureOf(provider.invoke(createInvocation()));
      expect(failure.detail).to.equal(`token endpoint: ECONNREFUSED 127.0.0.1:${closed.port}`);
    });

    it('does not outlive the call if it hangs, and counts for no breaker', async () => {
      const issuer = await keep(startProvider(() => {}));
      const upstream = await keep(startProvider());
      const provider = await openOn(upstream.url, configure(issuer.url), SECRETS);
      const controller = new AbortController();
      const call = provider.invoke(createInvocation({}, { signal: controller.signal }));
      controller.abort(new DOMException('late', 'TimeoutError'));
      const failure = await failureOf(call);
      expect(failure).to.include({ failure: 'timeout', phase: 'preparing' });
      expect(failure.detail).to.equal('token endpoint: deadline passed');
    });

    it('is read from a discovery document that names the issuer', async () => {
      let isOther = true;
      const issuer: ScriptedProvider = await keep(
        startProvider((request, response) => {
          if (request.url === '/token') {
            return answerJson({ access_token: 'found', token_type: 'bearer' })(request, response);
          }
          const issuerUrl = isOther ? 'https://other.example' : issuer.url;
          answerJson({ issuer: issuerUrl, token_endpoint: `${issuer.url}/token` })(
            request,
            response,
          );
        }),
      );
      const upstream = await keep(startProvider());
      const oauth2 = { issuer: issuer.url, client_id: 'me', client_secret: 'env:SECRET' };
      const failing = await openOn(upstream.url, { auth: { oauth2 } }, SECRETS);
      const failure = await failureOf(failing.invoke(createInvocation()));
      expect(failure).to.include({ failure: 'protocol', phase: 'preparing' });
      expect(failure.detail).to.equal('token endpoint: issuer of the discovery is not valid');
      isOther = false;
      const provider = await openOn(upstream.url, { auth: { oauth2 } }, SECRETS);
      await provider.invoke(createInvocation());
      expect(tokensOf(upstream)).to.deep.equal(['Bearer found']);
    });

    it('gets no secret if discovery names one without https', async () => {
      const issuer: ScriptedProvider = await keep(
        startProvider((request, response) => {
          const token_endpoint = 'http://issuer.example/token';
          answerJson({ issuer: issuer.url, token_endpoint })(request, response);
        }),
      );
      const oauth2 = { issuer: issuer.url, client_id: 'me', client_secret: 'env:SECRET' };
      const provider = await openOn('http://127.0.0.1:9', { auth: { oauth2 } }, SECRETS);
      const failure = await failureOf(provider.invoke(createInvocation()));
      expect(failure.detail).to.equal('token endpoint: the URL from discovery is not https');
    });
  });

  describe('with a certified authorization server', () => {
    const KEYS = {
      'RSA as PEM': generateKeyPairSync('rsa', { modulusLength: 2048 }),
      'EC as a JWK with kid': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      'EC (P-384) as PEM': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
      'Ed25519 as PEM': generateKeyPairSync('ed25519'),
    };
    const ALGORITHMS = ['RS256', 'ES256', 'ES384', 'EdDSA'];
    const NAMES = Object.keys(KEYS) as (keyof typeof KEYS)[];
    const POST = { client_id: 'poster', client_secret: 'secret of:the & poster' };

    const server = use(() => {
      const signing = NAMES.map((name, index) => ({
        client_id: `signer-${index}`,
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: ALGORITHMS[index],
        jwks: {
          keys: [{ ...KEYS[name].publicKey.export({ format: 'jwk' }), kid: `key-${index}` }],
        },
      }));
      const post = { ...POST, token_endpoint_auth_method: 'client_secret_post' };
      return startOpenIdProvider([...signing, post]);
    });

    const callWith = async (members: object, secret: string) => {
      const upstream = await keep(startProvider());
      const oauth2 = { ...members, resource: JWT_AUDIENCE, scopes: ['crm.read'] };
      const provider = await openOn(upstream.url, { auth: { oauth2 } }, { 'env:S': secret });
      await provider.invoke(createInvocation());
      const [, claims = ''] = (tokensOf(upstream)[0] ?? '').split('.');
      return JSON.parse(Buffer.from(claims, 'base64url').toString());
    };

    it('gets a token by Basic authentication, by discovery and by URL', async () => {
      const client = { client_id: CLIENT.id, client_secret: 'env:S' };
      for (const where of [{ issuer: server.issuer }, { token_url: `${server.issuer}/token` }]) {
        const claims = await callWith({ ...client, ...where }, CLIENT.secret);
        expect(claims).to.include({ client_id: CLIENT.id, scope: 'crm.read', aud: JWT_AUDIENCE });
      }
    });

    it('gets a token with the secret in the form', async () => {
      const client = { client_id: POST.client_id, client_secret: 'env:S', client_auth: 'post' };
      const claims = await callWith({ ...client, issuer: server.issuer }, POST.client_secret);
      expect(claims).to.include({ client_id: POST.client_id });
    });

    for (const [index, name] of NAMES.entries()) {
      it(`gets a token by private_key_jwt: ${name}`, async () => {
        const { privateKey } = KEYS[name];
        const text = name.includes('JWK')
          ? JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: `key-${index}` })
          : privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
        const client = { client_id: `signer-${index}`, private_key: 'env:S' };
        const claims = await callWith({ ...client, token_url: `${server.issuer}/token` }, text);
        expect(claims).to.include({ client_id: `signer-${index}` });
      });
    }
  });

  it('signs an assertion for the token endpoint, with the kid and the algorithm of the key', async () => {
    const issuer = await startIssuer();
    const upstream = await keep(startProvider());
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'mine', alg: 'PS256' };
    const { oauth2 } = configure(issuer.url).auth;
    const { client_secret: _, ...client } = oauth2;
    const auth = { oauth2: { ...client, private_key: 'env:KEY' } };
    const provider = await openOn(upstream.url, { auth }, { 'env:KEY': JSON.stringify(jwk) });
    await provider.invoke(createInvocation());
    const form = new URLSearchParams(issuer.requests[0]?.body.toString());
    const parts = (form.get('client_assertion') ?? '').split('.').slice(0, 2);
    const [header, payload] = parts.map((part) => JSON.parse(atob(part.replaceAll('-', '+'))));
    expect(header).to.include({ alg: 'PS256', kid: 'mine' });
    expect(payload).to.include({ iss: 'me', sub: 'me', aud: `${issuer.url}/token` });
  });

  it('rejects a private key that cannot sign, without printing it', async () => {
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
    const { publicKey } = generateKeyPairSync('ed25519');
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const bad = [
      'hush-hush',
      '{"kty":"RSA"}',
      small.export({ type: 'pkcs8', format: 'pem' }).toString(),
      publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      JSON.stringify({ ...ec.export({ format: 'jwk' }), alg: 'RS256' }),
    ];
    const oauth2 = { token_url: 'https://a/token', client_id: 'me', private_key: 'env:KEY' };
    for (const text of bad) {
      const opening = openOn('http://127.0.0.1:9', { auth: { oauth2 } }, { 'env:KEY': text });
      const message = await opening.then(() => 'opened').catch((error) => error.message);
      expect(message).to.match(/^auth\.oauth2\.private_key must hold a private key in PEM/);
      expect(message).to.not.include('hush-hush');
    }
  });
});

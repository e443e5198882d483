import { readFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Metadata, ServerCredentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { grpcAdapter } from '../../../plugins/grpc/grpc-adapter.js';
import { authority, client, server as serverPair, stranger } from '../../support/certificates.js';
import { failureOf } from '../../support/failure-of.js';
import { answerJson, startProvider } from '../../support/provider.js';
import { createInvocation, openAdapter } from '../open-adapter.js';
import { Failed, LIBRARY_SET, type LibraryServer, startLibrary } from './library-server.js';

const OPTIONS = { method: 'library.v1.Echo/Echo' };
const FILES = {
  set: readFileSync(LIBRARY_SET),
  'ca.pem': authority,
  'stranger.pem': stranger,
  'client.pem': client.cert,
  'client.key': client.key,
};
const SECRETS = { 'env:TOKEN': 'a-token', 'env:PASSWORD': 'a password', 'env:SECRET': 'secret' };

describe('credentials and TLS of kind grpc', () => {
  const stops: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });

  const serve = async (options: Parameters<typeof startLibrary>[1] = {}, rejects = 0) => {
    let left = rejects;
    const server = await startLibrary(
      {
        Echo: async () => {
          left -= 1;
          if (left >= 0) throw new Failed({ code: 16, details: 'no', metadata: new Metadata() });
          return [{ aBool: true }];
        },
      },
      options,
    );
    stops.push(() => server.stop());
    return server;
  };

  const open = async (url: string, config: object) => {
    const opened = await openAdapter(
      grpcAdapter,
      { endpoints: [url], descriptors: { file: 'set' }, ...config },
      { files: FILES, secrets: SECRETS },
    );
    stops.push(() => opened.close());
    opened.provider.useRoutes?.([
      { declared: { method: 'POST', path: '/echo' } as never, options: OPTIONS },
    ]);
    return () =>
      opened.provider.invoke(
        createInvocation({
          method: 'POST',
          target: '/echo',
          body: Buffer.from('{}'),
          options: OPTIONS,
        }),
      );
  };

  const tokensOf = ({ calls }: LibraryServer) =>
    calls.map(({ metadata }) => metadata.get('authorization')[0]);

  const PLAIN: Readonly<Record<string, readonly [auth: object, name: string, value: string]>> = {
    'a bearer token': [{ bearer: 'env:TOKEN' }, 'authorization', 'Bearer a-token'],
    'a name and a password': [
      { basic: { username: 'me', password: 'env:PASSWORD' } },
      'authorization',
      `Basic ${btoa('me:a password')}`,
    ],
    'a header': [{ header: { name: 'X-Key', value: 'env:TOKEN' } }, 'x-key', 'a-token'],
  };
  for (const [title, [auth, name, value]] of Object.entries(PLAIN)) {
    it(`sends ${title} as metadata`, async () => {
      const server = await serve();
      const call = await open(server.url, { auth });
      expect(textOf(await call())).to.equal('{"aBool":true}');
      expect(server.calls[0]?.metadata.get(name)).to.deep.equal([value]);
    });
  }

  const openWithOauth2 = async (url: string) => {
    const issuer = await startProvider((request, response) =>
      answerJson({
        access_token: `token-${issuer.requests.length}`,
        token_type: 'Bearer',
        expires_in: 3600,
      })(request, response),
    );
    stops.push(() => issuer.stop());
    const oauth2 = {
      token_url: `${issuer.url}/token`,
      client_id: 'me',
      client_secret: 'env:SECRET',
    };
    return open(url, { auth: { oauth2 } });
  };

  it('requests a token, and another one after UNAUTHENTICATED', async () => {
    const server = await serve({}, 1);
    const outcome = await (await openWithOauth2(server.url))();
    expect(textOf(outcome)).to.equal('{"aBool":true}');
    expect(tokensOf(server)).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
    expect(outcome.secrets?.map((secret) => secret.reveal())).to.deep.equal(['token-2']);
  });

  it('requests another token when a proxy answers with a status of 401', async () => {
    const tokens: unknown[] = [];
    let rejected = 1;
    const proxy = createServer().on('stream', (stream, { authorization }) => {
      tokens.push(authorization);
      rejected -= 1;
      if (rejected >= 0) {
        stream.respond({ ':status': 401 });
        stream.end('the token has expired');
        return;
      }
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '0' });
      stream.end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    stops.push(async () => proxy.close());
    const call = await openWithOauth2(`grpc://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    // Without a message, OK is no answer.
    expect((await failureOf(call())).failure).to.equal('protocol');
    expect(tokens).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
    rejected = 1;
    expect((await call()).status).to.equal(401);
  });

  it('trusts the configured authority alone, and shows its own certificate', async () => {
    const pair = {
      private_key: Buffer.from(serverPair.key),
      cert_chain: Buffer.from(serverPair.cert),
    };
    const credentials = ServerCredentials.createSsl(Buffer.from(authority), [pair], true);
    const server = await serve({ credentials });
    const url = `grpcs://127.0.0.1:${server.port}`;
    const own = { cert: 'client.pem', key: 'client.key' };
    const call = await open(url, { tls: { ca: 'ca.pem', ...own } });
    expect(textOf(await call())).to.equal('{"aBool":true}');
    for (const tls of [{ ca: 'stranger.pem', ...own }, { ca: 'ca.pem' }]) {
      const failure = await failureOf((await open(url, { tls }))());
      expect([failure.failure, failure.phase]).to.deep.equal(['unavailable', 'connecting']);
    }
    expect(server.calls).to.have.length(1);
  });

  it('rejects a bind whose parameters are not in the path', () => {
    const bind = { id: 'name', name: 'a/{id}/{other}', gone: 'book.name' };
    const declared = { method: 'GET', path: '/a/{id}', capability: null };
    const problems = grpcAdapter.checkManifest?.(
      { http_routes: [declared], capabilities: [] } as never,
      [{ declared, options: { method: 'a.B/C', bind } }] as never,
    );
    const path = ['http_routes', 0, 'operation', 'grpc', 'bind'];
    expect(problems?.map((problem) => problem.path)).to.deep.equal([
      [...path, 'name'],
      [...path, 'gone'],
    ]);
  });

  it('requires grpcs for tls, and one strategy for hash_header', () => {
    const config = { endpoints: ['grpc://a:1'], descriptors: { file: 'set' } };
    for (const invalid of [
      { tls: { ca: 'ca.pem' } },
      { hash_header: 'x-key' },
      { strategy: 'consistent_hash' },
      { descriptors: {} },
      { descriptors: { file: 'set', reflection: true } },
      { endpoints: ['http://a:1'] },
      { endpoints: ['grpc://a:1', { url: 'grpc://a:1', weight: 2 }] },
      { endpoints: [{ url: 'grpc://a:1', weight: 0 }] },
    ]) {
      const [error] = grpcAdapter.config.validate({ ...config, ...invalid });
      expect(error, JSON.stringify(invalid)).to.not.equal(undefined);
    }
    for (const valid of [{}, { endpoints: ['grpc://a:1', { url: 'grpc://b:1', weight: 2 }] }]) {
      expect(grpcAdapter.config.validate({ ...config, ...valid })[0]).to.equal(undefined);
    }
  });
});

import { expect } from 'chai';
import { ProviderFailure } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import {
  answerJson,
  type RunningProvider,
  type ScriptedProvider,
  startAnsweringProvider,
  startProvider,
  startRawProvider,
} from '../../support/provider.js';
import { useKept } from '../../support/use.js';
import { createInvocation, openAdapter } from '../open-adapter.js';

const NEVER = new AbortController().signal;

const readJson = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());

describe('http adapter: admin, config, manifest and check', () => {
  const keep = useKept();

  const openOn = async (upstreams: readonly RunningProvider[], config: object = {}) => {
    const endpoints = upstreams.map(({ url }) => url);
    const secrets = { 'env:TOKEN': 'token' };
    upstreams.forEach(keep);
    return keep(await openAdapter(httpAdapter, { endpoints, ...config }, { secrets })).provider;
  };

  const lastOf = (upstream: ScriptedProvider) => {
    const request = upstream.requests.at(-1);
    if (request === undefined) return expect.fail('the provider was not asked');
    const { method, target, body, headers } = request;
    return [method, target, body.toString(), headers['content-type']];
  };

  it('lists with limit and an encoded cursor, and returns the bytes unchanged', async () => {
    const page = { records: [{ id: 1 }], next_cursor: 'b' };
    const upstream = await startProvider(answerJson(page));
    const provider = await openOn([upstream]);
    const list = { kind: 'admin_list', entity: 'contacts', path: '/admin/contacts' } as const;
    const first = createInvocation({ ...list, limit: 100, cursor: null });
    const outcome = await provider.invoke(first);
    expect(textOf(outcome)).to.equal(JSON.stringify(page));
    expect(lastOf(upstream)).to.deep.equal(['GET', '/admin/contacts?limit=100', '', undefined]);
    const cursor = 'a+b/=& \u00e9\ud800';
    await provider.invoke(createInvocation({ ...list, limit: 1, cursor }));
    expect(lastOf(upstream)[1]).to.equal(
      '/admin/contacts?limit=1&cursor=a%2Bb%2F%3D%26%20%C3%A9%EF%BF%BD',
    );
  });

  it('posts the input of an action as JSON', async () => {
    const upstream = await startProvider(answerJson('done'));
    const provider = await openOn([upstream], { auth: { bearer: 'env:TOKEN' } });
    const action = { kind: 'admin_action', action: 'sync', path: '/admin/sync' } as const;
    for (const expected of ['{ "dry_run": true }', 'null', '"a"', '1.10', '12345678901234567890']) {
      const [input, inputJson] = [JSON.parse(expected), Buffer.from(expected)];
      await provider.invoke(createInvocation({ ...action, input, inputJson }));
      expect(lastOf(upstream)).to.deep.equal(['POST', '/admin/sync', expected, 'application/json']);
    }
    expect(upstream.requests[0]?.headers).to.include({
      accept: 'application/json',
      authorization: 'Bearer token',
    });
  });

  it('puts the configuration', async () => {
    const upstream = await startProvider();
    const provider = await openOn([upstream]);
    const values = { 'crm/page_size': 50 };
    await provider.invoke(
      createInvocation({ kind: 'configure', path: '/_config', revision: 7, values }),
    );
    expect(lastOf(upstream)).to.deep.equal([
      'PUT',
      '/_config',
      '{"revision":7,"values":{"crm/page_size":50}}',
      'application/json',
    ]);
  });

  it('sends nothing when the manifest names no path', async () => {
    const upstream = await startProvider();
    const provider = await openOn([upstream]);
    const calls = [
      { kind: 'admin_list', entity: 'contacts', path: null, limit: 1, cursor: null },
      { kind: 'admin_action', action: 'sync', path: null, input: {}, inputJson: Buffer.from('{}') },
      { kind: 'configure', path: null, revision: 0, values: {} },
    ] as const;
    const messages: string[] = [];
    for (const operation of calls) {
      const failure = await failureOf(provider.invoke(createInvocation(operation)));
      expect(failure.failure).to.equal('refused');
      messages.push(failure.message);
    }
    expect(messages).to.deep.equal([
      "entity 'contacts' has no list_path in the manifest",
      "action 'sync' has no invoke_path in the manifest",
      'config has no delivery_path in the manifest',
    ]);
    expect(upstream.accepted()).to.equal(0);
  });

  it('reads the manifest from the well-known or configured path', async () => {
    const manifest = { protocol: 'modgate.manifest.v1' };
    const upstream = await startProvider(answerJson(manifest));
    const auth = { bearer: 'env:TOKEN' };
    const usual = await openOn([upstream], { auth });
    expect(readJson(await usual.manifest(NEVER))).to.deep.equal(manifest);
    expect(upstream.requests[0]?.target).to.equal('/.well-known/modgate/manifest.json');
    expect(upstream.requests[0]?.headers).to.include({
      accept: 'application/json',
      'accept-encoding': 'identity',
      authorization: 'Bearer token',
    });
    const other = await openOn([upstream], { manifest_path: '/m?v=1' });
    await other.manifest(NEVER);
    expect(upstream.requests[1]?.target).to.equal('/m?v=1');
  });

  it('reads the manifest from the next endpoint when one is down', async () => {
    const down = await startProvider();
    await down.stop();
    const upstream = await startProvider(answerJson({ a: 1 }));
    const provider = await openOn([down, upstream]);
    expect(readJson(await provider.manifest(NEVER))).to.deep.equal({ a: 1 });
  });

  const BAD_MANIFESTS: Readonly<Record<string, [answer: string, failure: string]>> = {
    'another status': ['HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n{}', 'unavailable'],
    'a redirect': ['HTTP/1.1 302 No\r\nLocation: /m\r\nContent-Length: 0\r\n\r\n', 'unavailable'],
    'more than 4 MiB': ['HTTP/1.1 200 OK\r\nContent-Length: 4194305\r\n\r\n', 'protocol'],
  };
  for (const [title, [answer, expected]] of Object.entries(BAD_MANIFESTS)) {
    it(`fails as ${expected} for a manifest with ${title}`, async () => {
      const provider = await openOn([await startAnsweringProvider(answer)]);
      expect((await failureOf(provider.manifest(NEVER))).failure).to.equal(expected);
    });
  }

  it('aborts a manifest request with its signal', async () => {
    const provider = await openOn([await startRawProvider(() => {})]);
    const controller = new AbortController();
    const reading = provider.manifest(controller.signal);
    controller.abort(new ProviderFailure('timeout', 'over'));
    expect((await failureOf(reading)).failure).to.equal('timeout');
  });

  it('checks the health path: only 2xx is up', async () => {
    let status = 204;
    const upstream = await startProvider((_request, response) => {
      response.writeHead(status).end();
    });
    const provider = await openOn([upstream], { health: { path: '/health' } });
    await provider.check(NEVER);
    expect(upstream.requests[0]?.target).to.equal('/health');
    for (status of [302, 404, 503]) {
      const failure = await failureOf(provider.check(NEVER));
      expect([failure.failure, failure.status]).to.deep.equal(['unavailable', status]);
    }
  });

  it('limits the time of a health check', async () => {
    const health = { path: '/health', timeout_ms: 30 };
    const provider = await openOn([await startRawProvider(() => {})], { health });
    const failure = await failureOf(provider.check(NEVER));
    expect([failure.failure, failure.message]).to.deep.equal([
      'timeout',
      'no response within 30 ms',
    ]);
  });

  it('checks the connection alone without a health path', async () => {
    const upstream = await startRawProvider((socket) => socket.resume());
    const provider = await openOn([upstream]);
    await provider.check(NEVER);
    await upstream.stop();
    expect((await failureOf(provider.check(NEVER))).failure).to.equal('unavailable');
    const failure = failureOf(provider.check(AbortSignal.abort()));
    expect((await failure).failure).to.equal('cancelled');
  });

  it('checks the given endpoint, or else any', async () => {
    const down = await startProvider();
    await down.stop();
    const upstream = await startProvider();
    const provider = await openOn([down, upstream]);
    await provider.check(NEVER);
    await provider.check(NEVER, upstream.url);
    expect((await failureOf(provider.check(NEVER, down.url))).failure).to.equal('unavailable');
  });
});

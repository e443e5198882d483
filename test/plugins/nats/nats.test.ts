import { randomUUID } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { expect } from 'chai';
import type { ProviderOperation } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { natsAdapter } from '../../../plugins/nats/nats-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import { useKept } from '../../support/use.js';
import { createInvocation, eventually, type OpenedProvider, openAdapter } from '../open-adapter.js';
import { NATS_URL, needNats } from './nats-server.js';
import { type NatsAnswer, respond, startService } from './nats-service.js';

const NEVER = new AbortController().signal;

describe('nats adapter', () => {
  let subject: string;
  const opened: OpenedProvider[] = [];
  const keep = useKept();

  before(async function () {
    await needNats(this);
  });

  beforeEach(() => {
    subject = `modgate-test.${randomUUID()}`;
  });

  afterEach(async () => {
    for (const openedProvider of opened.splice(0)) await openedProvider.close();
  });

  const open = async (config: object = {}) => {
    const running = await openAdapter(natsAdapter, { servers: [NATS_URL], subject, ...config });
    opened.push(running);
    await eventually(() => running.log.some(({ message }) => message === 'connected to NATS'));
    return running.provider;
  };

  const serve = async (handle: (message: Msg) => NatsAnswer | null, queue?: string) => {
    return keep(await startService(subject, handle, { servers: NATS_URL }, queue));
  };

  const headersOf = ({ headers }: Msg) =>
    Object.fromEntries([...(headers ?? [])].map(([name, values]) => [name, values.join(', ')]));

  it('sends a route as subject, headers and payload', async () => {
    const service = await serve(() => ({
      status: '201',
      headers: { 'Content-Type': 'application/json', 'x-a': '1' },
      body: '{"n":1.10}',
    }));
    const provider = await open();
    const body = Buffer.from('{"id": 12345678901234567890}');
    const operation = {
      method: 'POST',
      declaredPath: '/contacts/{id}',
      target: '/contacts/a%20b?x=%2F&y',
      body,
    } as const;
    const headers = { 'content-type': 'application/json', 'modgate-deadline-ms': '5000' };
    const outcome = await provider.invoke(createInvocation(operation, { headers }));
    expect({ ...outcome, body: textOf(outcome) }).to.deep.equal({
      status: 201,
      headers: { 'content-type': 'application/json', 'x-a': '1' },
      body: '{"n":1.10}',
    });
    const [message] = service.received;
    expect(message?.subject).to.equal(`${subject}.http_route`);
    expect(message && headersOf(message)).to.deep.equal({
      ...headers,
      'modgate-method': 'POST',
      'modgate-declared-path': '/contacts/{id}',
      'modgate-path': '/contacts/a%20b',
      'modgate-query': 'x=%2F&y',
    });
    expect(`${message?.string()}`).to.equal(body.toString());
  });

  it('distinguishes an empty query from none', async () => {
    const service = await serve(() => ({ status: '204' }));
    const provider = await open();
    for (const target of ['/a', '/a?']) await provider.invoke(createInvocation({ target }));
    const queries = service.received.map((message) => headersOf(message)['modgate-query']);
    expect(queries).to.deep.equal([undefined, '']);
  });

  it('sends the other operations', async () => {
    const service = await serve(() => ({ status: '200', body: '{}' }));
    const provider = await open();
    const inputJson = Buffer.from('{"n": 1.10}');
    const operations: ProviderOperation[] = [
      { kind: 'admin_list', entity: 'notes', path: null, limit: 5, cursor: 'a\nb' },
      { kind: 'admin_action', action: 'sync é\n', path: null, input: { n: 1.1 }, inputJson },
      { kind: 'configure', path: null, revision: 3, values: { 'crm/a': 1 } },
    ];
    for (const operation of operations) await provider.invoke(createInvocation(operation));
    expect(
      service.received.map((message) => [
        message.subject.slice(subject.length + 1),
        message.string(),
      ]),
    ).to.deep.equal([
      ['admin_list', '{"entity":"notes","limit":5,"cursor":"a\\nb"}'],
      ['admin_action', '{"n": 1.10}'],
      ['configure', '{"revision":3,"values":{"crm/a":1}}'],
    ]);
    const [list, action] = service.received.map(headersOf);
    expect(list?.['content-type']).to.equal('application/json');
    expect(action?.['modgate-action']).to.equal('sync%20%C3%A9%0A');
  });

  it('reads the manifest and checks the provider', async () => {
    await serve(({ subject: full }) =>
      full.endsWith('.manifest')
        ? { status: '200', body: '{"module_id":"crm"}' }
        : { status: full.endsWith('.check') ? '204' : '404' },
    );
    const provider = await open();
    const manifest = await provider.manifest(NEVER);
    expect(Buffer.from(manifest).toString()).to.equal('{"module_id":"crm"}');
    await provider.check(NEVER);
  });

  it('fails for a rejected manifest and check', async () => {
    await serve(() => ({ status: '500' }));
    const provider = await open();
    expect((await failureOf(provider.check(NEVER))).failure).to.equal('unavailable');
    expect((await failureOf(provider.manifest(NEVER))).failure).to.equal('unavailable');
  });

  it('spreads calls over the subscribers of one queue group', async () => {
    const [first, two] = [
      await serve(() => ({ status: '204' })),
      await serve(() => ({ status: '204' })),
    ];
    const provider = await open();
    await Promise.all(Array.from({ length: 60 }, () => provider.invoke(createInvocation())));
    expect(first.received.length + two.received.length).to.equal(60);
    expect(Math.min(first.received.length, two.received.length)).to.be.greaterThan(0);
  });

  it('keeps twenty calls at once apart', async () => {
    await serve((message) => {
      const path = headersOf(message)['modgate-path'] ?? '';
      setTimeout(() => respond(message, { status: '200', body: path }), Math.random() * 30);
      return null;
    });
    const provider = await open();
    const calls = Array.from({ length: 20 }, async (_, n) => {
      return textOf(await provider.invoke(createInvocation({ target: `/${n}` })));
    });
    expect(await Promise.all(calls)).to.deep.equal(calls.map((_, n) => `/${n}`));
  });

  it('is unavailable at once without a subscriber', async () => {
    const provider = await open();
    const failure = await failureOf(provider.invoke(createInvocation()));
    expect(failure.failure).to.equal('unavailable');
    expect(failure.message).to.equal('no provider is subscribed to the subject');
    expect((await failureOf(provider.check(NEVER))).failure).to.equal('unavailable');
  });

  it('returns an error status, also 503', async () => {
    await serve(() => ({ status: '503' }));
    const outcome = await (await open()).invoke(createInvocation());
    expect(outcome).to.deep.equal({ status: 503, headers: {}, body: null });
  });

  it('returns headers whose names objects have too', async () => {
    await serve(() => ({ status: '204', headers: { constructor: 'a' } }));
    const { headers } = await (await open()).invoke(createInvocation());
    expect(headers).to.deep.equal({ constructor: 'a' });
  });

  it('fails as timeout or cancelled when aborted, and drops the late reply', async () => {
    const messages: Msg[] = [];
    await serve((message) => {
      messages.push(message);
      return null;
    });
    const provider = await open();
    const late = failureOf(
      provider.invoke(createInvocation({ target: '/late' }, { signal: AbortSignal.timeout(50) })),
    );
    expect((await late).failure).to.equal('timeout');
    const controller = new AbortController();
    const gone = failureOf(
      provider.invoke(createInvocation({ target: '/gone' }, { signal: controller.signal })),
    );
    await eventually(() => messages.length === 2);
    controller.abort();
    expect((await gone).failure).to.equal('cancelled');
    const next = provider.invoke(createInvocation({ target: '/next' }));
    await eventually(() => messages.length === 3);
    for (const message of messages) {
      respond(message, { status: '200', body: headersOf(message)['modgate-path'] ?? '' });
    }
    expect(textOf(await next)).to.equal('/next');
  });

  it('sends nothing for an aborted call', async () => {
    const service = await serve(() => ({ status: '204' }));
    const provider = await open();
    const call = provider.invoke(createInvocation({}, { signal: AbortSignal.abort() }));
    expect((await failureOf(call)).failure).to.equal('cancelled');
    await provider.invoke(createInvocation());
    expect(service.received).to.have.length(1);
  });

  const MALFORMED: Readonly<Record<string, NatsAnswer>> = {
    'no status': { body: '{}' },
    'a status that is no number': { status: 'ok' },
    'a status of 600': { status: '600' },
    'a header with a control character': { status: '200', headers: { a: 'b\u0001c' } },
    'too many bytes': { status: '200', body: 'x'.repeat(51) },
  };
  for (const [title, answer] of Object.entries(MALFORMED)) {
    it(`fails as protocol for a reply with ${title}`, async () => {
      await serve(() => answer);
      const provider = await open();
      const call = provider.invoke(createInvocation({}, { maxResponseBytes: 50 }));
      expect((await failureOf(call)).failure).to.equal('protocol');
    });
  }

  it('fails as protocol for a reply without headers, and for invalid headers', async () => {
    let respondRaw = (message: Msg) => void message.respond('{}');
    await serve((message) => {
      respondRaw(message);
      return null;
    });
    const provider = await open();
    expect((await failureOf(provider.invoke(createInvocation()))).failure).to.equal('protocol');
    respondRaw = (message) => {
      const head = 'NATS/1.0\r\nmodgate-status: 200\r\na b\u00e9: 1\r\n\r\n';
      const headers = { encode: () => Buffer.from(head) };
      message.respond('{}', { headers: headers as never });
    };
    expect((await failureOf(provider.invoke(createInvocation()))).failure).to.equal('protocol');
  });

  it('rejects a request over the limit of the server, and still sends others', async () => {
    const service = await serve(() => ({ status: '204' }));
    const provider = await open();
    const limit = service.connection.info?.max_payload ?? 0;
    const large = createInvocation({ method: 'POST', body: Buffer.alloc(limit, 97) });
    const failure = await failureOf(provider.invoke(large));
    expect(failure.failure).to.equal('refused');
    expect(failure.message).to.include(`${limit} bytes (max_payload of the server)`);
    expect((await provider.invoke(createInvocation())).status).to.equal(204);
  });

  it('has one endpoint, and the configured checks', async () => {
    const provider = await open({ health: { interval_ms: 1_000 } });
    expect(provider.endpoints?.()).to.deep.equal([{ id: `nats:${subject}`, weight: 1 }]);
    expect(provider.balancing?.().health).to.deep.equal({
      intervalMs: 1_000,
      timeoutMs: 1_000,
      failures: 2,
      successes: 1,
    });
  });

  it('leaves no connection and no listener after many opens', async () => {
    const service = await serve(() => ({ status: '204' }));
    const live = async () => {
      const provider = await open();
      await provider.invoke(createInvocation());
      await opened.pop()?.close();
      return failureOf(provider.invoke(createInvocation()));
    };
    await live();
    const handles = process.getActiveResourcesInfo().length;
    for (let life = 0; life < 50; life += 1) {
      expect((await live()).failure).to.equal('unavailable');
    }
    expect(service.received).to.have.length(51);
    await eventually(() => process.getActiveResourcesInfo().length <= handles);
  });

  it('validates its config', () => {
    const isValid = (config: object) =>
      natsAdapter.config.is({ servers: [NATS_URL], subject: 'modgate.crm', ...config });
    for (const good of [
      {},
      { servers: ['tls://nats.internal', 'nats://[::1]:4222'], tls: { ca: './ca.pem' } },
      { auth: { user: { name: 'modgate', password: 'env:P' } } },
      { auth: { creds: 'file:./modgate.creds' }, inbox: '_INBOX_modgate' },
      { health: {} },
    ]) {
      expect(isValid(good), JSON.stringify(good)).to.equal(true);
    }
    for (const bad of [
      { servers: [] },
      { servers: ['127.0.0.1:4222'] },
      { servers: ['nats://user:pass@127.0.0.1'] },
      { servers: ['http://127.0.0.1'] },
      { subject: '' },
      { subject: 'a.*' },
      { subject: 'a.>' },
      { subject: 'a..b' },
      { subject: 'a b' },
      { subject: 'x'.repeat(201) },
      { inbox: '_INBOX.>' },
      { auth: {} },
      { auth: { token: 'env:A', nkey: 'env:B' } },
      { auth: { token: 'plain' } },
      { tls: { cert: './a' } },
      { tls: { rejectUnauthorized: false } },
      { queue: 'a' },
    ]) {
      expect(isValid(bad), JSON.stringify(bad)).to.equal(false);
    }
  });
});

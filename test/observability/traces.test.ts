import { expect } from 'chai';
import { runModgate } from '../cli/run-modgate.js';
import { call } from '../http/call.js';
import { describeModule } from '../http/modules.js';
import { waitUntil } from '../http/wait-until.js';
import { type EchoProvider, startEchoProvider } from '../support/echo-provider.js';
import { headerValue } from '../support/raw-http.js';
import { type HostOptions, type RunningHost, startHost } from '../support/start-host.js';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.js';

const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];
const TRACE = 'a'.repeat(32);
const CALLER = 'b'.repeat(16);
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
/** Small, so that a test does not wait for a batch. */
const DELAY = { OTEL_BSP_SCHEDULE_DELAY: '50' };

describe('traces', () => {
  let receiver: OtlpReceiver;
  let provider: EchoProvider;
  let host: RunningHost;

  const start = (env: HostOptions['env'] = {}) =>
    startHost({
      files: {
        'shop.json': describeModule('shop', provider.url, ROUTES),
        'down.json': describeModule('down', 'http://127.0.0.1:1', ROUTES),
      },
      env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...DELAY, ...env },
    });

  before(async () => {
    receiver = await startOtlpReceiver();
    provider = await startEchoProvider();
    host = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  });

  beforeEach(() => provider.reset());

  after(async () => {
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
    await provider.close();
    await receiver.close();
  });

  const spansOf = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);
  const waitForSpans = async (traceId: string, count: number) => {
    await waitUntil('the spans', () => spansOf(traceId).length >= count);
    const spans = spansOf(traceId);
    expect(spans).to.have.length(count);
    return {
      server: spans.find(({ kind }) => kind === SERVER),
      clients: spans.filter(({ kind }) => kind === CLIENT),
    };
  };
  const traceparentAtProvider = () =>
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/
      .exec(headerValue(provider.only().headers, 'traceparent') ?? '')
      ?.slice(1) ?? [];
  const get = (target: string, traceparent?: string, more: object = {}) =>
    call(host, {
      target,
      headers: traceparent === undefined ? [] : [['traceparent', traceparent]],
      ...more,
    });

  it("are a server span under the caller's, and a client span that the provider gets as parent", async () => {
    await get('/modules/shop/http/items/1?q=hunter2', `00-${TRACE}-${CALLER}-01`);
    const { server, clients } = await waitForSpans(TRACE, 2);
    const [client] = clients;
    expect(server).to.include({ name: 'GET /items/{id}', parentSpanId: CALLER, statusCode: 0 });
    expect(client).to.include({ name: 'GET /items/{id}', parentSpanId: server?.spanId });
    expect(traceparentAtProvider()).to.deep.equal([TRACE, client?.spanId, '01']);
    expect(server?.attributes).to.include({
      'http.request.method': 'GET',
      'http.route': '/items/{id}',
      'http.response.status_code': 200,
      'modgate.module': 'shop',
    });
    expect(client?.attributes).to.include({
      'http.response.status_code': 200,
      'modgate.endpoint': provider.url,
    });
    expect(server?.resource).to.include({ 'service.name': 'modgate' });
    expect(receiver.bodies.join('')).to.not.include('hunter2');
    expect(receiver.requests[0]).to.equal('POST /v1/traces application/json');
  });

  it('begin with the host where the caller has none, and are in the log line', async () => {
    await get('/modules/shop/http/items/1');
    const [traceId = '', spanId, flags] = traceparentAtProvider();
    const { server, clients } = await waitForSpans(traceId, 2);
    expect({ flags, spanId, parent: server?.parentSpanId }).to.deep.equal({
      flags: '01',
      spanId: clients[0]?.spanId,
      parent: '',
    });
    const isLogged = () => host.logs().some((line) => line['trace_id'] === traceId);
    await waitUntil('the log line', isLogged);
  });

  it('have a client span for each attempt', async () => {
    const traceId = 'c'.repeat(32);
    await get('/modules/down/http/items/1', `00-${traceId}-${CALLER}-01`);
    const { server, clients } = await waitForSpans(traceId, 4);
    expect(server?.attributes).to.include({
      'http.response.status_code': 502,
      'error.type': 'unavailable',
    });
    expect(server?.statusCode).to.equal(ERROR);
    const inOrder = clients.toSorted((a, b) => Number(a.startedAt - b.startedAt));
    expect(inOrder.map(({ attributes }) => attributes['http.request.resend_count'])).to.deep.equal([
      undefined,
      1,
      2,
    ]);
    for (const client of clients) {
      expect(client.parentSpanId).to.equal(server?.spanId);
      expect(client.attributes['error.type']).to.equal('unavailable');
      expect(client.statusCode).to.equal(ERROR);
      expect(client.endedAt >= client.startedAt).to.equal(true);
    }
  });

  it('tell what was refused before a provider was asked', async () => {
    const traceId = 'd'.repeat(32);
    await get('/modules/shop/http/hunter3', `00-${traceId}-${CALLER}-01`);
    const { server } = await waitForSpans(traceId, 1);
    expect(server).to.include({ name: 'GET', statusCode: 0 });
    expect(server?.attributes).to.include({ 'http.response.status_code': 404 });
    expect(receiver.bodies.join('')).to.not.include('hunter3');
  });

  it("are not sent where the caller's flag says that they are not sampled", async () => {
    const traceId = 'e'.repeat(32);
    await get('/modules/shop/http/items/1', `00-${traceId}-${CALLER}-00`);
    const [id, spanId, flags] = traceparentAtProvider();
    expect({ id, flags }).to.deep.equal({ id: traceId, flags: '00' });
    expect(spanId).to.not.equal(CALLER);
    const later = 'f'.repeat(32);
    await get('/modules/shop/http/items/1', `00-${later}-${CALLER}-01`);
    await waitForSpans(later, 2);
    expect(spansOf(traceId)).to.have.length(0);
  });

  it('do not follow a traceparent that the connection header names, or a malformed one', async () => {
    const traceId = '9'.repeat(32);
    const headers = [
      ['traceparent', `00-${traceId}-${CALLER}-01`],
      ['connection', 'close, Traceparent'],
    ];
    await get('/modules/shop/http/items/1', undefined, { headers });
    expect(traceparentAtProvider()[0]).to.not.equal(traceId);
    provider.reset();
    await get('/modules/shop/http/items/1', `00-${traceId}-short-01`);
    expect(traceparentAtProvider()[0]).to.not.equal(traceId);
  });

  it('are sent at the end, also when no batch was due', async () => {
    const traceId = '8'.repeat(32);
    const other = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '60000',
      OTEL_SERVICE_NAME: 'edge',
    });
    await call(other, {
      target: '/modules/shop/http/items/1',
      headers: [['traceparent', `00-${traceId}-${CALLER}-01`]],
    });
    expect(spansOf(traceId)).to.have.length(0);
    expect((await other.stop()).code).to.equal(0);
    const { server } = await waitForSpans(traceId, 2);
    expect(server?.resource['service.name']).to.equal('edge');
  });

  it('go as protobuf unless told otherwise', async () => {
    const other = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: '',
    });
    await call(other, { target: '/modules/shop/http/items/1' });
    const protobuf = 'POST /v1/traces application/x-protobuf';
    await waitUntil('protobuf', () => receiver.requests.includes(protobuf));
    await other.stop();
    const body = receiver.bodies[receiver.requests.indexOf(protobuf)]?.toString('latin1');
    expect(body).to.include('GET /items/{id}');
  });

  it('cost callers nothing when the receiver is down', async () => {
    const other = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    });
    try {
      for (let count = 0; count < 50; count += 1) {
        const startedAt = performance.now();
        const { status } = await call(other, { target: '/modules/shop/http/items/1' });
        expect(status).to.equal(200);
        expect(performance.now() - startedAt).to.be.below(500);
      }
      const warnings = () => other.logs().filter((line) => String(line['msg']).includes('traces'));
      await waitUntil('the warning', () => warnings().length > 0, 10_000);
      expect(warnings()).to.have.length(1);
      expect(other.output()).to.not.include('127.0.0.1:1/');
    } finally {
      const startedAt = performance.now();
      expect((await other.stop()).code).to.equal(0);
      expect(performance.now() - startedAt).to.be.below(4000);
    }
  });

  it('are off without an endpoint: nothing is sampled', async () => {
    const other = await start();
    await call(other, { target: '/modules/shop/http/items/1' });
    expect(traceparentAtProvider()[2]).to.equal('00');
    await other.stop();
  });

  it('end the start with 2 where a variable is wrong, and do not repeat it', async () => {
    const modules = host.directory;
    for (const env of [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'hunter2' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'hunter2' },
    ]) {
      const { code, stdout, stderr } = await runModgate(
        [
          'serve',
          '--env',
          'development',
          '--port',
          '0',
          '--modules',
          modules,
          '--state',
          `${modules}/s`,
        ],
        env,
      );
      expect({ code }).to.deep.equal({ code: 2 });
      expect(stderr).to.match(/OTEL_EXPORTER_OTLP_(?:ENDPOINT|PROTOCOL) must be/);
      expect(stdout + stderr).to.not.include('hunter2');
    }
  });
});

import { expect } from 'chai';
import { headerValue, RawConnection } from '../../../core/selftest/raw-http.js';
import { startEchoProvider } from '../../support/echo-provider.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { startOtlpReceiver } from '../../support/observability/otlp-receiver.js';
import {
  CALLER,
  callItem,
  RELEASE,
  readTraceparent,
  spansOf,
  startTracedHost,
  traceparent,
  UI,
  UNREACHABLE,
  waitForTrace,
} from '../../support/observability/traced-host.js';
import { use } from '../../support/use.js';

const ERROR = 2;
const UNSET = 0;
const ENCODINGS = [
  { protocol: 'http/protobuf', type: 'application/x-protobuf' },
  { protocol: 'http/json', type: 'application/json' },
];

for (const { protocol, type } of ENCODINGS) {
  describe(`traces by ${protocol}`, () => {
    let traces = 0;

    const receiver = use(startOtlpReceiver);
    const provider = use(startEchoProvider);
    const host = use(() =>
      startTracedHost(provider.url, {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      }),
    );

    beforeEach(() => provider.reset());

    const newTrace = () => {
      traces += 1;
      return traces.toString(16).padStart(32, 'a');
    };
    const portOf = (url: string) => Number(new URL(url).port);

    it("are a server span under the caller's, and a client span that the provider gets as parent", async () => {
      const traceId = newTrace();
      await callItem(host, [
        traceparent(traceId),
        ['tracestate', 'vendor=1'],
        ['x-request-id', 'r'],
      ]);
      const { server, clients } = await waitForTrace(receiver, traceId, 2);
      const [client] = clients;
      expect(server).to.include({
        name: 'GET /items/{id}',
        parentSpanId: CALLER,
        traceState: 'vendor=1',
        statusCode: UNSET,
      });
      expect(server.attributes).to.deep.equal({
        'http.request.method': 'GET',
        'http.route': '/items/{id}',
        'http.response.status_code': 200,
        'url.scheme': 'http',
        'server.address': '127.0.0.1',
        'server.port': host.port,
        'modgate.module': 'shop',
        'modgate.request_id': 'r',
      });
      expect(client).to.include({
        name: 'GET /items/{id}',
        parentSpanId: server.spanId,
        statusCode: UNSET,
      });
      expect(client?.attributes).to.deep.equal({
        'http.request.method': 'GET',
        'url.template': '/items/{id}',
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
        'server.port': provider.port,
        'modgate.endpoint': provider.url,
        'modgate.module': 'shop',
      });
      const { headers } = provider.only();
      expect(readTraceparent(headers)).to.deep.equal([traceId, client?.spanId, '01']);
      expect(headerValue(headers, 'tracestate')).to.equal('vendor=1');
      expect(server.resource).to.include({ 'service.name': 'modgate' });
      expect(server.resource['service.version']).to.match(/^\d+\.\d+\.\d+/);
      expect(receiver.exports[0]?.line).to.equal(`POST /v1/traces ${type}`);
    });

    it('are nested in time', async () => {
      const traceId = newTrace();
      provider.answer({ delayMs: 60 });
      await callItem(host, [traceparent(traceId)]);
      const { server, clients } = await waitForTrace(receiver, traceId, 2);
      const [client = server] = clients;
      expect(Number(client.startedAt - server.startedAt)).to.be.at.least(0);
      expect(Number(server.endedAt - client.endedAt)).to.be.at.least(0);
      expect(Number(client.endedAt - client.startedAt)).to.be.above(50e6);
    });

    it('start at the host without a span of the caller, and are in the log line', async () => {
      await callItem(host);
      const [traceId, spanId, flags] = readTraceparent(provider.only().headers);
      const { server, clients } = await waitForTrace(receiver, traceId, 2);
      expect({ flags, spanId, parent: server.parentSpanId }).to.deep.equal({
        flags: '01',
        spanId: clients[0]?.spanId,
        parent: '',
      });
      const isLogged = () => host.logs().some((line) => line['trace_id'] === traceId);
      await waitUntil('the log line', isLogged);
    });

    it('have a client span for each attempt', async () => {
      const traceId = newTrace();
      await callItem(host, [traceparent(traceId)], 'down');
      const { server, clients } = await waitForTrace(receiver, traceId, 4);
      expect(server.attributes).to.include({
        'http.response.status_code': 502,
        'error.type': 'unavailable',
        'modgate.failure': 'unavailable',
        'modgate.failure_detail': 'ECONNREFUSED 127.0.0.1:1',
      });
      expect(server.statusCode).to.equal(ERROR);
      expect(
        clients.map(({ attributes }) => attributes['http.request.resend_count']),
      ).to.deep.equal([undefined, 1, 2]);
      for (const client of clients) {
        expect(client.parentSpanId).to.equal(server.spanId);
        expect(client.attributes).to.include({
          'error.type': 'unavailable',
          'server.port': 1,
          'modgate.failure_detail': 'ECONNREFUSED 127.0.0.1:1',
        });
        expect(client.attributes).to.not.have.property('http.response.status_code');
        expect(client.statusCode).to.equal(ERROR);
      }
      expect(new Set(clients.map(({ spanId }) => spanId)).size).to.equal(3);
    });

    it('name the endpoint of each attempt', async () => {
      // The endpoints take turns, so one of two calls starts at the endpoint that is down.
      const [first, two] = [newTrace(), newTrace()];
      for (const traceId of [first, two]) {
        const { status } = await callItem(host, [traceparent(traceId)], 'half');
        expect(status).to.equal(200);
      }
      await waitUntil(
        'the spans',
        () => spansOf(receiver, first).length + spansOf(receiver, two).length === 5,
      );
      const retried = spansOf(receiver, first).length === 3 ? first : two;
      const { server, clients } = await waitForTrace(receiver, retried, 3);
      expect(server.statusCode).to.equal(UNSET);
      expect(clients.map(({ attributes }) => attributes['server.port'])).to.deep.equal([
        portOf(UNREACHABLE),
        provider.port,
      ]);
      expect(clients.map(({ statusCode }) => statusCode)).to.deep.equal([ERROR, UNSET]);
    });

    it('record failed providers and invalid responses', async () => {
      const [failed, none] = [newTrace(), newTrace()];
      provider.answer({ status: 503 });
      await callItem(host, [traceparent(failed)]);
      const first = await waitForTrace(receiver, failed, 2);
      expect(first.server.attributes).to.include({
        'http.response.status_code': 502,
        'error.type': 'status',
      });
      expect(first.clients[0]?.attributes).to.include({
        'http.response.status_code': 503,
        'error.type': '503',
      });
      expect(first.clients[0]?.statusCode).to.equal(ERROR);
      provider.answer({ body: 'hunter4' });
      await callItem(host, [traceparent(none)]);
      const { server, clients } = await waitForTrace(receiver, none, 2);
      expect(server.attributes).to.include({
        'error.type': 'protocol',
        'modgate.failure_detail': 'invalid JSON at byte 0',
      });
      expect(clients[0]?.attributes['http.response.status_code']).to.equal(200);
    });

    it('record requests that were rejected before the provider call', async () => {
      const [unmatched, anonymous] = [newTrace(), newTrace()];
      await call(host, {
        target: '/modules/shop/http/hunter3',
        headers: [traceparent(unmatched)],
      });
      const { server } = await waitForTrace(receiver, unmatched, 1);
      expect(server).to.include({ name: 'GET', statusCode: UNSET });
      expect(server.attributes).to.include({ 'http.response.status_code': 404 });
      expect(server.attributes).to.not.have.any.keys('http.route', 'error.type');
      await call(host, {
        method: 'PROPFIND',
        as: null,
        target: '/modules/shop/http/items/1',
        headers: [traceparent(anonymous)],
      });
      const { server: rejected } = await waitForTrace(receiver, anonymous, 1);
      expect(rejected.name).to.equal('HTTP');
      expect(rejected.attributes).to.include({
        'http.request.method': '_OTHER',
        'http.request.method_original': 'PROPFIND',
        'http.response.status_code': 401,
      });
    });

    it('record clients that close the connection', async () => {
      const traceId = newTrace();
      provider.answer({ raw: [], finally: 'hang' });
      const connection = await RawConnection.open(host.port);
      connection.write(
        `GET /modules/shop/http/items/9 HTTP/1.1\r\nhost: 127.0.0.1:${host.port}\r\n` +
          `traceparent: 00-${traceId}-${CALLER}-01\r\n` +
          'authorization: Bearer dev-system:root\r\n\r\n',
      );
      await waitUntil('the call', () => provider.requests.length === 1);
      connection.destroy();
      const { server, clients } = await waitForTrace(receiver, traceId, 2);
      expect(server.attributes).to.include({
        'http.response.status_code': 499,
        'error.type': 'cancelled',
      });
      expect(clients[0]?.attributes['error.type']).to.equal('cancelled');
    });

    it('name the console bridge and its provider call', async () => {
      const traceId = newTrace();
      provider.answer({ body: '{"records":[],"next_cursor":null}' });
      const { status } = await call(host, {
        method: 'POST',
        target: '/modules/shop/http/console-bridge/shop.read',
        headers: [JSON_TYPE, traceparent(traceId)],
        body: Buffer.from(
          JSON.stringify({
            moduleReleaseDigest: RELEASE,
            uiArtifactDigest: UI,
            permission: 'shop.read',
            payload: { operation: 'admin_data_list', entity: 'items', limit: 1 },
          }),
        ),
      });
      expect(status).to.equal(200);
      const { server, clients } = await waitForTrace(receiver, traceId, 2);
      const route = '/modules/{module}/http/console-bridge/{permission}';
      expect(server.name).to.equal(`POST ${route}`);
      expect(server.attributes).to.include({ 'http.route': route, 'modgate.module': 'shop' });
      expect(clients[0]).to.include({ name: 'GET /admin/items', parentSpanId: server.spanId });
      expect(clients[0]?.attributes['http.request.method']).to.equal('GET');
    });

    it("are not exported when the caller's flag says not sampled", async () => {
      const [traceId, later] = [newTrace(), newTrace()];
      await callItem(host, [traceparent(traceId, '00')]);
      const [id, spanId, flags] = readTraceparent(provider.only().headers);
      expect({ id, flags }).to.deep.equal({ id: traceId, flags: '00' });
      expect(spanId).to.not.equal(CALLER);
      await callItem(host, [traceparent(later)]);
      await waitForTrace(receiver, later, 2);
      expect(spansOf(receiver, traceId)).to.have.length(0);
    });

    it('ignore a malformed or hop-by-hop traceparent', async () => {
      const traceId = newTrace();
      await callItem(host, [traceparent(traceId), ['connection', 'close, Traceparent']]);
      const [spanId] = readTraceparent(provider.only().headers);
      expect(spanId).to.not.equal(traceId);
      const { server } = await waitForTrace(receiver, spanId, 2);
      expect(server.parentSpanId).to.equal('');
      provider.reset();
      await callItem(host, [['traceparent', `00-${traceId}-short-01`]]);
      expect(readTraceparent(provider.only().headers)[0]).to.not.equal(traceId);
    });

    it('contain nothing of raw targets and bodies', () => {
      const sent = receiver.exports.map(({ body }) => body.toString('latin1')).join('');
      expect(sent).to.include('/items/{id}');
      expect(sent).to.not.include('hunter');
    });
  });
}

import { setTimeout as pause } from 'node:timers/promises';
import { Metadata } from '@grpc/grpc-js';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';
import { CAPABILITY, type Caller, createCaller, describeLibrary } from './library-module.js';
import { Failed, startLibrary } from './library-server.js';

const ECHO = 'library.v1.Echo';
const LINES = { accept: 'application/x-ndjson' };
const route = (path: string, grpc: string, others: object = {}) => ({
  method: 'POST',
  path,
  operation: { grpc: `${ECHO}/${grpc}`, ...others },
});
const ROUTES = [
  { method: 'GET', path: '/empty', operation: { grpc: `${ECHO}/Metadata` } },
  route('/echo', 'Echo'),
  route('/fail', 'Fail'),
  route('/many', 'Many', { stream: 'ndjson' }),
  route('/late', 'FailLate', { stream: 'ndjson' }),
];
/** A message of special characters, from the interoperability tests of gRPC. */
const SPECIAL = '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n';
/** Of the message of `large_unary`, whose response is larger than a window of HTTP/2. */
const LARGE_REQUEST = 271_828;
const LARGE_RESPONSE = 314_159;
const TIMEOUT_MS = 300;

describe('the interoperability tests of gRPC', () => {
  const server = use(async () =>
    startLibrary({
      Metadata: async () => [{}],
      Echo: async (call) => {
        const { aString = '', aBool = false } = call.request as {
          aString?: string;
          aBool?: boolean;
        };
        while (aBool && !call.isCancelled) await pause(5);
        return [aString.length > 1000 ? { aString: 'y'.repeat(LARGE_RESPONSE) } : call.request];
      },
      Fail: ({ request }) => {
        const { code = 0, message = '' } = request as { code?: number; message?: string };
        throw new Failed({ code, details: message, metadata: new Metadata() });
      },
      Many: async function* (call) {
        for (const length of [31_415, 9, 2_653, 58_979]) yield { aString: 'z'.repeat(length) };
        const { aBool = false } = call.request as { aBool?: boolean };
        while (aBool && !call.isCancelled) await pause(5);
      },
      FailLate: async function* () {
        yield {};
        throw new Failed({ code: 2, details: SPECIAL, metadata: new Metadata() });
      },
    }),
  );
  const host = use(() => {
    const others = {
      provider_errors: 'passthrough',
      forward_headers: ['x-grpc-test-echo-initial', 'x-grpc-test-echo-trailing-bin'],
      limits: { timeout_ms: 30_000 },
    };
    return startHost({ files: describeLibrary(ROUTES, server.url, others) });
  });

  const call: Caller = (path, init) => createCaller(host.url)(path, init);

  const post = (path: string, body: object, headers: object = {}) =>
    call(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: headers as Record<string, string>,
    });

  const failureOf = (text: string) => {
    const { errors } = JSON.parse(text) as { errors: { field: string; reason: string }[] };
    return errors.find(({ field }) => field === 'failure')?.reason;
  };

  it('pass empty_unary', async () => {
    const { status, text } = await call('/empty');
    expect(status, text).to.equal(200);
    expect(JSON.parse(text).data).to.deep.equal({});
  });

  it('pass large_unary', async () => {
    const { status, text } = await post('/echo', { aString: 'x'.repeat(LARGE_REQUEST) });
    expect(status, text.slice(0, 500)).to.equal(200);
    expect(JSON.parse(text).data.aString).to.have.length(LARGE_RESPONSE);
  });

  it('pass server_streaming', async () => {
    const { status, text } = await post('/many', {}, LINES);
    expect(status, text.slice(0, 500)).to.equal(200);
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { aString?: string });
    const lengths = lines.flatMap(({ aString }) => (aString === undefined ? [] : [aString.length]));
    expect(lengths).to.deep.equal([31_415, 9, 2_653, 58_979]);
  });

  it('pass custom_metadata', async () => {
    const value = Buffer.from([0xab, 0xab, 0xab]).toString('base64');
    const headers = {
      'x-grpc-test-echo-initial': 'test_initial_metadata_value',
      'x-grpc-test-echo-trailing-bin': value,
    };
    expect((await post('/echo', {}, headers)).status).to.equal(200);
    const metadata = server.calls.at(-1)?.metadata;
    expect(metadata?.get('x-grpc-test-echo-initial')).to.deep.equal([
      'test_initial_metadata_value',
    ]);
    const [bytes] = metadata?.get('x-grpc-test-echo-trailing-bin') ?? [];
    expect(bytes).to.deep.equal(Buffer.from([0xab, 0xab, 0xab]));
  });

  it('pass status_code_and_message', async () => {
    const { status, text } = await post('/fail', { code: 3, message: 'test status message' });
    expect(status).to.equal(400);
    expect(JSON.parse(text).detail).to.equal('test status message');
  });

  it('pass special_status_message', async () => {
    const { text } = await post('/fail', { code: 3, message: SPECIAL });
    expect(JSON.parse(text).detail).to.include('and Unicode BMP ☺ and non-BMP 😈');
    const late = await post('/late', {}, LINES);
    expect(late.text).to.include('modgate.problem');
  });

  it('pass unimplemented_method and unimplemented_service', async () => {
    const other = await startLibrary({}, { services: ['library.v1.Library'] });
    const routes = [route('/echo', 'Echo')];
    const second = await startHost({ files: describeLibrary(routes, other.url) });
    const response = await createCaller(second.url)('/echo', { method: 'POST', body: '{}' });
    expect(response.status).to.equal(502);
    expect(failureOf(response.text)).to.equal('status');
    await second.stop();
    await other.stop();
  });

  it('pass timeout_on_sleeping_server', async () => {
    const limits = { limits: { timeout_ms: TIMEOUT_MS } };
    const other = await startHost({ files: describeLibrary(ROUTES, server.url, limits) });
    const body = '{"aBool":true}';
    const { status, text } = await createCaller(other.url)('/echo', { method: 'POST', body });
    await other.stop();
    expect(status).to.equal(502);
    expect(failureOf(text)).to.equal('timeout');
    const { calls } = server;
    expect(calls.at(-1)?.deadlineMs).to.be.within(1, TIMEOUT_MS);
    await waitUntil('the server sees it', () => calls.at(-1)?.isCancelled === true);
  });

  const leave = async (
    path: string,
    hasLeft: (response: Promise<Response>) => Promise<unknown>,
  ) => {
    const before = server.calls.length;
    const controller = new AbortController();
    const response = fetch(`${host.url}/modules/library/http${path}`, {
      method: 'POST',
      body: '{"aBool":true}',
      headers: {
        ...(path === '/many' && LINES),
        authorization: `Bearer dev-service:reader:${CAPABILITY}`,
        'content-type': 'application/json',
      },
      signal: controller.signal,
    });
    response.catch(() => {});
    await waitUntil('the server has the call', () => server.calls.length > before);
    await hasLeft(response);
    controller.abort();
    await waitUntil('the server sees it', () => server.calls.at(-1)?.isCancelled === true);
  };

  it('pass cancel_after_begin', () => leave('/echo', async () => {}));

  it('pass cancel_after_first_response', () =>
    leave('/many', async (response) => (await response).body?.getReader().read()));
});

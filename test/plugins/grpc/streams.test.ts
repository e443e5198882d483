import { setTimeout as pause } from 'node:timers/promises';
import type { JsonValue } from '@bufbuild/protobuf';
import { Metadata } from '@grpc/grpc-js';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';
import { CAPABILITY, createCaller, describeLibrary } from './library-module.js';
import { Failed, startLibrary } from './library-server.js';

const MANY = 'library.v1.Echo/Many';
const ROUTES = [
  { method: 'POST', path: '/many', operation: { stream: 'ndjson', grpc: MANY } },
  {
    method: 'POST',
    path: '/late',
    operation: { stream: 'ndjson', grpc: 'library.v1.Echo/FailLate' },
  },
  {
    method: 'GET',
    path: '/watch/{parent}',
    operation: { stream: 'ndjson', grpc: 'library.v1.Library/WatchBooks' },
  },
  {
    method: 'GET',
    path: '/cover/{name}',
    operation: { response: 'bytes', grpc: 'library.v1.Library/Cover' },
  },
  {
    method: 'PUT',
    path: '/cover',
    operation: { body: 'bytes', response: 'bytes', grpc: 'library.v1.Library/SetCover' },
  },
  {
    method: 'GET',
    path: '/pages/{name}',
    operation: { response: 'bytes', grpc: 'library.v1.Library/Pages' },
  },
];

const LINES = { accept: 'application/x-ndjson' };
const BYTES = Buffer.from([0xff, 0, 0xfe, 13, 10]);

describe('streams of gRPC', () => {
  let sent = 0;

  const server = use(async () =>
    startLibrary({
      Many: async function* ({ request }) {
        const { anInt32: count = 0, aString = '' } = request as {
          anInt32?: number;
          aString?: string;
        };
        for (sent = 0; sent < count; sent += 1) yield { anInt32: sent + 1, aString };
      },
      FailLate: async function* ({ request }) {
        const { after = 0, code = 5 } = request as { after?: number; code?: number };
        for (let n = 0; n < after; n += 1) yield { anInt32: n + 1 };
        throw new Failed({ code, details: 'no more', metadata: new Metadata() });
      },
      WatchBooks: async function* (call) {
        yield { title: 'first' };
        while (!call.isCancelled) await pause(5);
      },
      Cover: async () => [{ contentType: 'image/png', data: BYTES.toString('base64') }],
      SetCover: async ({ request }) => [request],
      Pages: async function* (call) {
        if ((call.request as { name?: string }).name === 'endless') {
          while (!call.isCancelled) yield { contentType: 'text/plain', data: 'AAAA' };
          return;
        }
        for (const n of [1, 2, 3]) {
          const data = Buffer.from(`page ${n};`).toString('base64');
          yield { contentType: n === 1 ? 'text/plain' : 'image/gif', data } as JsonValue;
        }
      },
    }),
  );
  const host = use(() =>
    startHost({
      files: describeLibrary(ROUTES, server.url, { provider_errors: 'passthrough' }),
    }),
  );

  const post = (path: string, body: object) =>
    createCaller(host.url)(path, { method: 'POST', body: JSON.stringify(body), headers: LINES });

  const linesOf = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('pass each message as a line', async () => {
    const { status, headers, text } = await post('/many', { anInt32: 3 });
    expect(status, text).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/x-ndjson');
    const lines = linesOf(text).filter((line) => 'anInt32' in line);
    expect(lines).to.deep.equal([{ anInt32: 1 }, { anInt32: 2 }, { anInt32: 3 }]);
    expect(text).to.include('modgate.end');
  });

  it('answer an error before the first message like a unary call', async () => {
    const { status, text } = await post('/late', { after: 0, code: 5 });
    expect(status, text).to.equal(404);
    expect(JSON.parse(text).detail).to.equal('no more');
  });

  it('end with a problem for an error behind a message', async () => {
    const { status, text } = await post('/late', { after: 2, code: 14 });
    expect(status).to.equal(200);
    const lines = linesOf(text);
    expect(lines.filter((line) => 'anInt32' in line)).to.have.length(2);
    expect(JSON.stringify(lines.at(-1))).to.include('unavailable');
    expect(text).to.include('modgate.problem');
  });

  it('say that the server ended them with an error, whatever its code', async () => {
    const { text } = await post('/late', { after: 1, code: 5 });
    const { 'modgate.problem': problem } = linesOf(text).at(-1) as {
      'modgate.problem': { status: number; errors: object[] };
    };
    expect(problem.status).to.equal(502);
    expect(problem.errors).to.deep.include({ field: 'failure', reason: 'status' });
    expect(problem.errors).to.deep.include({ field: 'provider_status', reason: '404' });
  });

  it('cancel the call when the client disconnects', async () => {
    const controller = new AbortController();
    const response = await fetch(`${host.url}/modules/library/http/watch/a`, {
      headers: { ...LINES, authorization: `Bearer dev-service:reader:${CAPABILITY}` },
      signal: controller.signal,
    });
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('first')) {
      const { value } = (await reader?.read()) ?? {};
      if (value === undefined) throw new Error(`the stream ended: ${text}`);
      text += Buffer.from(value).toString();
    }
    controller.abort();
    await waitUntil('the server sees it', () => server.calls.at(-1)?.isCancelled === true);
  });

  it('are read no faster than the client reads', async () => {
    const controller = new AbortController();
    const response = await fetch(`${host.url}/modules/library/http/many`, {
      method: 'POST',
      body: JSON.stringify({ anInt32: 100_000, aString: 'x'.repeat(10_000) }),
      headers: {
        ...LINES,
        authorization: `Bearer dev-service:reader:${CAPABILITY}`,
        'content-type': 'application/json',
      },
      signal: controller.signal,
    });
    expect(response.status).to.equal(200);
    let before = -1;
    await waitUntil('the server pauses', async () => {
      const isQuiet = sent > 0 && sent === before;
      before = sent;
      await pause(200);
      return isQuiet;
    });
    expect(sent).to.be.lessThan(20_000);
    controller.abort();
  });

  it('carry bytes of HttpBody with their type', async () => {
    const cover = await fetch(`${host.url}/modules/library/http/cover/a`, {
      headers: { authorization: `Bearer dev-service:reader:${CAPABILITY}` },
    });
    expect(cover.status).to.equal(200);
    expect(cover.headers.get('content-type')).to.equal('image/png');
    expect(Buffer.from(await cover.arrayBuffer()).equals(BYTES)).to.equal(true);
    const set = await fetch(`${host.url}/modules/library/http/cover`, {
      method: 'PUT',
      body: BYTES,
      headers: {
        authorization: `Bearer dev-service:reader:${CAPABILITY}`,
        'content-type': 'image/webp',
      },
    });
    expect(set.status).to.equal(200);
    expect(set.headers.get('content-type')).to.equal('image/webp');
    expect(Buffer.from(await set.arrayBuffer()).equals(BYTES)).to.equal(true);
  });

  it('are cancelled at the server once a HEAD is answered', async () => {
    const { status, headers } = await createCaller(host.url)('/pages/endless', { method: 'HEAD' });
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/plain']);
    const call = server.calls.at(-1);
    expect(call?.method).to.equal('Pages');
    await waitUntil('the call is cancelled', () => call?.isCancelled === true);
  });

  it('join the bytes of several HttpBody', async () => {
    const { status, headers, text } = await createCaller(host.url)('/pages/a');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('text/plain');
    expect(text).to.equal('page 1;page 2;page 3;');
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { cpuMsSince } from '../../support/cpu-time.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { serveFetch } from '../../support/mcp/mcp-server.js';
import { describeTools } from '../../support/mcp/tools-module.js';
import { slowness } from '../../support/slowness.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

/** For calls that must fail before their deadline, also on a busy machine. */
const LONG_TIMEOUT_MS = 60_000;
const MIB = 1_048_576;
const EVENTS = { 'content-type': 'text/event-stream' };
const RESULT = { content: [{ type: 'text', text: 'ok' }] };

interface Call {
  readonly id: number;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly token: unknown;
  readonly signal: AbortSignal;
}

const message = (body: object) => JSON.stringify({ jsonrpc: '2.0', ...body });
const event = (body: object, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${message(body)}\n\n`;
const progress = (token: unknown, count: number) =>
  event({
    method: 'notifications/progress',
    params: { progressToken: token, progress: count },
  });

/** The texts hold what separates the messages of a batch. */
const writeBatch = (id: number) => {
  const log = message({ method: 'notifications/message', params: { data: '"],[{' } });
  return `[${log}, ${message({ id, result: { ...RESULT, _meta: { text: '\\",]' } } })} ]`;
};

function stream(parts: AsyncIterable<string> | Iterable<string>): Response {
  const encoder = new TextEncoder();
  const iterator =
    Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();
  const body = new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
  return new Response(body, { headers: EVENTS });
}

/** Streams that the host has not closed. */
let open = 0;
/** Cancellations that the server does not answer. */
let hanging = 0;

/** What a hostile server answers to a call, by the name of the tool. */
const TOOLS: Readonly<Record<string, (call: Call) => Response | Promise<Response>>> = {
  well: ({ id }) => new Response(message({ id, result: RESULT }), { headers: JSON_TYPE }),
  'other-id': ({ id }) => Response.json({ jsonrpc: '2.0', id: id + 1, result: RESULT }),
  'text-id': ({ id }) => Response.json({ jsonrpc: '2.0', id: `${id}`, result: RESULT }),
  'other-id-stream': ({ id }) => stream([event({ id: id - 1, result: RESULT })]),
  'byte-order-mark': ({ id }) =>
    new Response(`\ufeff${message({ id, result: RESULT })}`, { headers: JSON_TYPE }),
  'byte-order-mark-stream': ({ id }) => stream(['\ufeff', event({ id, result: RESULT })]),
  batch: ({ id }) => new Response(writeBatch(id), { headers: JSON_TYPE }),
  'batch-stream': ({ id }) => stream([`data: ${writeBatch(id)}\n\n`]),
  'batch-of-others': () => Response.json([{ jsonrpc: '2.0', method: 'notifications/message' }]),
  'batch-of-values': ({ id }) => Response.json([1, { jsonrpc: '2.0', id, result: RESULT }]),
  'long-batch': ({ id }) => Response.json(Array(101).fill({ jsonrpc: '2.0', id, result: RESULT })),
  'no-result': ({ id }) => Response.json({ jsonrpc: '2.0', id }),
  'no-json': () => new Response('<html>', { headers: JSON_TYPE }),
  'wrong-type': () => new Response('ok', { headers: { 'content-type': 'text/plain' } }),
  'wrong-result': ({ id }) => Response.json({ jsonrpc: '2.0', id, result: { content: 'no' } }),
  'no-answer': () => stream([]),
  long: ({ id, args }) =>
    stream([
      event({
        id,
        result: { content: [{ type: 'text', text: 'x'.repeat(Number(args['length'])) }] },
      }),
    ]),
  'endless-event': () =>
    stream(
      (function* () {
        yield 'data: ';
        for (let part = 0; part < 100; part += 1) yield 'x'.repeat(MIB);
      })(),
    ),
  'endless-body': () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(MIB).fill(0x20)),
      }),
      { headers: JSON_TYPE },
    ),
  flood: () =>
    stream(
      (function* () {
        for (;;)
          yield event({ method: 'notifications/message', params: { data: 'x'.repeat(10_000) } });
      })(),
    ),
  requests: ({ id }) =>
    stream([
      event({ id: 'a', method: 'sampling/createMessage', params: {} }),
      event({ id, result: RESULT }),
    ]),
  'many-requests': ({ id }) =>
    stream([
      ...Array.from({ length: 200 }, (_, index) =>
        event({ id: `r${index}`, method: 'roots/list' }),
      ),
      event({ id, result: RESULT }),
    ]),
  'endless-progress': ({ token, signal }) =>
    stream(
      (async function* () {
        for (let count = 0; !signal.aborted; count += 1) {
          yield progress(token, count);
          await pause(20);
        }
      })(),
    ),
  'text-id-stream': ({ id, token }) =>
    stream([progress(`${token}`, 1), event({ id: `${id}`, result: RESULT })]),
  'other-text-id': ({ id }) => Response.json({ jsonrpc: '2.0', id: `0${id}`, result: RESULT }),
  'no-blocks': ({ id }) =>
    Response.json({ jsonrpc: '2.0', id, result: { structuredContent: { a: 1 } } }),
  'list-result': ({ id }) => Response.json({ jsonrpc: '2.0', id, result: [] }),
  'some-progress': ({ id, token }) =>
    stream(
      (async function* () {
        for (let count = 1; count <= 5; count += 1) {
          yield progress(token, count);
          await pause(600);
        }
        yield event({ id, result: RESULT });
      })(),
    ),
  'foreign-progress': ({ token, signal }) =>
    stream(
      (async function* () {
        for (let count = 0; !signal.aborted; count += 1) {
          yield progress(`${token}-other`, count);
          await pause(20);
        }
      })(),
    ),
  'input-required': ({ id }) =>
    Response.json({
      jsonrpc: '2.0',
      id,
      result: { resultType: 'input_required', inputRequests: {} },
    }),
  exact: ({ id }) =>
    new Response(
      `{"id":${id}, "jsonrpc":"2.0","result": {"content":[],"structuredContent":{"id": 12345678901234567890, "price":1.10}}}`,
      { headers: JSON_TYPE },
    ),
  'bad-blocks': ({ id }) =>
    Response.json({ jsonrpc: '2.0', id, result: { content: Array(100_000).fill({}) } }),
  'untyped-block': ({ id }) =>
    Response.json({ jsonrpc: '2.0', id, result: { content: [{ text: 'no type' }] } }),
  'unknown-block': ({ id }) =>
    Response.json({
      jsonrpc: '2.0',
      id,
      result: { content: [{ type: 'video', n: 1.5 }, { type: 'toString' }] },
    }),
  deep: ({ id, args }) => {
    const nested = `${'['.repeat(Number(args['levels']))}${']'.repeat(Number(args['levels']))}`;
    const result = `{"content":[],"structuredContent":{"a":${nested}}}`;
    return new Response(`{"jsonrpc":"2.0","id":${id},"result":${result}}`, { headers: JSON_TYPE });
  },
  'many-blocks': ({ id }) =>
    Response.json({
      jsonrpc: '2.0',
      id,
      result: { content: Array(10_001).fill({ type: 'text', text: '' }) },
    }),
  'after-answer': ({ id, signal }) =>
    stream(
      (async function* () {
        yield event({ id, result: RESULT });
        open += 1;
        try {
          while (!signal.aborted) {
            yield ': still here\n';
            await pause(50);
          }
        } finally {
          open -= 1;
        }
      })(),
    ),
  'flood-after-answer': ({ id }) =>
    stream(
      (function* () {
        yield event({ id, result: RESULT });
        for (;;) yield ':'.repeat(100_000);
      })(),
    ),
  comments: () =>
    stream(
      (function* () {
        for (;;) yield `:${'x'.repeat(10_000)}\n\n`;
      })(),
    ),
  'empty-events': () =>
    stream(
      (function* () {
        for (;;) yield 'id: 1\n\n'.repeat(1_000);
      })(),
    ),
  'foreign-messages': () =>
    stream(
      (function* () {
        for (;;) yield 'data: no JSON\n\n'.repeat(1_000);
      })(),
    ),
  slow: async ({ signal }) => {
    await pause(60_000, undefined, { signal }).catch(() => {});
    return new Response(null, { status: 500 });
  },
  ...Object.fromEntries(
    [401, 403, 404, 429, 500, 503].map((status) => [
      `status-${status}`,
      () => new Response('from a proxy', { status }),
    ]),
  ),
  ...Object.fromEntries(
    [401, 503].map((status) => [
      `error-${status}`,
      () => Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_000 } }, { status }),
    ]),
  ),
};

const JSON_TYPE = { 'content-type': 'application/json' };

/** The answers of the revision 2025-11-25, without sessions. */
async function answer(request: Request, signal: AbortSignal): Promise<Response> {
  if (request.method !== 'POST') return new Response(null, { status: 405 });
  const { id, method, params } = JSON.parse(await request.text());
  if (method === 'notifications/cancelled') {
    hanging += 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    hanging -= 1;
  }
  if (id === undefined || method === undefined) return new Response(null, { status: 202 });
  if (method === 'initialize') {
    return Response.json({
      jsonrpc: '2.0',
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 'hostile', version: '1' },
      },
    });
  }
  const tool = TOOLS[params?.name ?? ''];
  if (method !== 'tools/call' || tool === undefined) {
    return Response.json({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'no' } });
  }
  const { name, arguments: args = {}, _meta: { progressToken: token = null } = {} } = params;
  return tool({ id, name, args, token, signal });
}

describe('a hostile MCP server', () => {
  const server = use(() => serveFetch(answer));
  const host = use(() => {
    const { url } = server;
    const describeModule = (module: string, limits: object) =>
      describeTools({ url }, Object.keys(TOOLS), {
        module,
        limits: { response_bytes: MIB, ...limits },
        breaker: { failures: 1000 },
      });
    return startHost({
      files: {
        'tools.yaml': describeModule('tools', { timeout_ms: 2_000, stream: { max_ms: 4_000 } }),
        'patient.yaml': describeModule('patient', { timeout_ms: LONG_TIMEOUT_MS }),
      },
    });
  });
  afterEach('the server still answers others', async () => {
    expect((await call('well')).status).to.equal(200);
  });

  const call = async (
    name: string,
    body: object = {},
    { signal, module = 'tools' }: { signal?: AbortSignal; module?: string } = {},
  ) => {
    const response = await fetch(`${host.url}/modules/${module}/http/tools/${name}`, {
      method: 'POST',
      headers: { authorization: 'Bearer dev-service:test:tools.use', ...JSON_TYPE },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
    const text = await response.text();
    const { errors = [], detail } = JSON.parse(text);
    const failure = errors.find(({ field }: { field: string }) => field === 'failure')?.reason;
    return { status: response.status, text, failure, detail };
  };

  for (const name of [
    ...['other-id', 'other-text-id', 'other-id-stream', 'no-result', 'no-json', 'wrong-type'],
    ...[
      'wrong-result',
      'list-result',
      'no-answer',
      'many-requests',
      'flood',
      'input-required',
      'bad-blocks',
      'many-blocks',
      'untyped-block',
    ],
    ...['batch-of-others', 'batch-of-values', 'long-batch'],
    ...['status-404', 'status-500', 'comments', 'empty-events', 'foreign-messages'],
  ]) {
    it(`fails the call alone: ${name}`, async () => {
      const cpu = process.cpuUsage();
      const response = await call(name, {}, { module: 'patient' });
      expect(response).to.include({ status: 502, failure: 'protocol' });
      // No turn of the event loop is long.
      expect(cpuMsSince(cpu)).to.be.below(1_900 * slowness());
    });
  }

  for (const [status, failure] of Object.entries({
    401: 'refused',
    403: 'refused',
    429: 'unavailable',
    503: 'unavailable',
  })) {
    it(`takes a status of ${status} for ${failure}`, async () => {
      expect(await call(`status-${status}`)).to.include({ status: 502, failure });
    });
  }

  it('takes an error without the id of the call for its status', async () => {
    expect(await call('error-401')).to.include({ status: 502, failure: 'refused' });
    expect(await call('error-503')).to.include({ status: 502, failure: 'unavailable' });
  });

  for (const name of ['byte-order-mark', 'byte-order-mark-stream', 'batch', 'batch-stream']) {
    it(`reads ${name}`, async () => {
      const { status, text } = await call(name);
      expect([status, text.includes('"text":"ok"')]).to.deep.equal([200, true]);
      expect(text.includes('\\",]')).to.equal(name.startsWith('batch'));
    });
  }

  it('reads the id of a call as a text, as official clients do', async () => {
    for (const name of ['text-id', 'text-id-stream']) {
      expect((await call(name)).status, name).to.equal(200);
    }
  });

  it('passes a result that has a structure and no blocks', async () => {
    const { status, text } = await call('no-blocks');
    expect([status, text.includes('"data":{"structuredContent":{"a":1}}')]).to.deep.equal([
      200,
      true,
    ]);
  });

  it('ends responses of 100 MiB at the limit', async () => {
    for (const name of ['endless-event', 'endless-body']) {
      const { status, failure, detail } = await call(name);
      expect([status, failure]).to.deep.equal([502, 'protocol']);
      expect(detail).to.include('longer than 1048576 bytes');
    }
    expect(await call('long', { length: 2 * MIB })).to.include({ failure: 'protocol' });
    expect((await call('long', { length: MIB / 2 })).status).to.equal(200);
  });

  it('answers requests of the server with an error, and goes on', async () => {
    expect((await call('requests')).status).to.equal(200);
    const answered = await waitUntil(
      'the server got an answer',
      () => server.requests.some(({ text }) => text.includes('"id":"a"')) === true,
    ).then(() => server.requests.find(({ text }) => text.includes('"id":"a"')));
    expect(JSON.parse(answered?.text ?? '').error.code).to.equal(-32_601);
  });

  it('passes the numbers of a result in the digits of the server', async () => {
    const { text } = await call('exact');
    expect(text).to.include('{"id": 12345678901234567890, "price":1.10}');
  });

  it('passes blocks of a type that the protocol does not have yet', async () => {
    const { text } = await call('unknown-block');
    expect(text).to.include('"content":[{"type":"video","n":1.5},{"type":"toString"}]');
  });

  it('passes a result of a hundred levels, and survives one of half a million', async () => {
    const { status, text } = await call('deep', { levels: 100 });
    expect([status, text.includes('['.repeat(100))]).to.deep.equal([200, true]);
    expect([200, 502]).to.include((await call('deep', { levels: 500_000 })).status);
  });

  it('closes a stream that goes on after its response', async () => {
    expect((await call('after-answer')).status).to.equal(200);
    await waitUntil('the stream is closed', () => open === 0);
    expect((await call('flood-after-answer')).status).to.equal(200);
  });

  it('reads arguments behind a byte-order mark', async () => {
    const response = await fetch(`${host.url}/modules/tools/http/tools/well`, {
      method: 'POST',
      headers: { authorization: 'Bearer dev-service:test:tools.use', ...JSON_TYPE },
      body: '\ufeff{"a": 1}',
    });
    expect(response.status).to.equal(200);
  });

  it('gives a call its time anew with each progress', async () => {
    expect((await call('some-progress')).status).to.equal(200);
  });

  it('ends a call with endless progress at limits.stream.max_ms', async () => {
    const start = performance.now();
    expect(await call('endless-progress')).to.include({ status: 502, failure: 'timeout' });
    expect(performance.now() - start).to.be.at.least(3_900);
  });

  it('ends a call at its deadline, whatever progress of others says', async () => {
    const { status, failure } = await call('foreign-progress');
    expect([status, failure]).to.deep.equal([502, 'timeout']);
  });

  it('cancels the request at the server when the caller leaves', async () => {
    const controller = new AbortController();
    const left = call('slow', {}, { signal: controller.signal }).catch(() => 'left');
    await waitUntil('the server has it', () => hanging > 0);
    controller.abort();
    expect(await left).to.equal('left');
    await waitUntil(
      'the server is told',
      () => server.requests.some(({ text }) => text.includes('notifications/cancelled')) === true,
    );
    await waitUntil('a server that does not answer is left', () => hanging === 0);
  });
});

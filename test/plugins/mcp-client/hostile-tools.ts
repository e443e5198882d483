import { setTimeout as pause } from 'node:timers/promises';

export const MIB = 1_048_576;
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
export let openStreams = 0;
/** Cancellations that the server does not answer. */
export let hangingCancellations = 0;

/** What a hostile server answers to a call, by the name of the tool. */
export const TOOLS: Readonly<Record<string, (call: Call) => Response | Promise<Response>>> = {
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
        openStreams += 1;
        try {
          while (!signal.aborted) {
            yield ': still here\n';
            await pause(50);
          }
        } finally {
          openStreams -= 1;
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

export const JSON_TYPE = { 'content-type': 'application/json' };

/** The answers of the revision 2025-11-25, without sessions. */
export async function answer(request: Request, signal: AbortSignal): Promise<Response> {
  if (request.method !== 'POST') return new Response(null, { status: 405 });
  const { id, method, params } = JSON.parse(await request.text());
  if (method === 'notifications/cancelled') {
    hangingCancellations += 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    hangingCancellations -= 1;
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

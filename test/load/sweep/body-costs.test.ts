import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { BODY_PARTS } from '../../support/http/body-parts.js';
import { describeModule } from '../../support/http/modules.js';
import {
  CheapClient,
  type CostBounds,
  type InputCost,
  measureCost,
} from '../../support/input-cost.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

const MIB = 1_048_576;
/** The default of `limits.request_bytes`, less some room. */
const REQUEST_BYTES = MIB - 256;
const RESPONSE_BYTES = 4 * MIB - 256;
const LONG_BYTES = 64 * MIB;
const TURN_MS = 50;
/** What the CPU time may grow by where a body grows to twice its length. */
const RATIO = 2.5;
const USUAL: CostBounds = { ratio: RATIO, turnMs: TURN_MS };
/** A check that is too long for one thread begins anew in another one. */
const SPECIAL = new Map([['a described route', { ratio: 5, turnMs: TURN_MS }]]);

const SCHEMA = {
  type: ['array', 'object', 'string', 'number'],
  uniqueItems: true,
  maxLength: 2_000_000,
  pattern: '^(a|b|\\\\)*$',
  items: { type: ['string', 'number', 'object', 'array'], pattern: '^(a*)*$' },
};
const ROUTES = [
  { method: 'GET', path: '/items' },
  { method: 'POST', path: '/items' },
  { method: 'POST', path: '/described', operation: { input_schema: SCHEMA } },
  { method: 'GET', path: '/described', operation: { output_schema: SCHEMA } },
  { method: 'GET', path: '/lines', operation: { stream: 'ndjson' } },
  { method: 'GET', path: '/events', operation: { stream: 'sse' } },
];
const routesOf = (module: string) =>
  ROUTES.map((route) => ({ ...route, capability: `${module}.use` }));
const LONG = {
  request_bytes: 2 * LONG_BYTES,
  response_bytes: 2 * LONG_BYTES,
  hold_bytes: 2 * LONG_BYTES,
  hold_request_bytes: 2 * LONG_BYTES,
};

const TOKEN = 'authorization: Bearer dev-system:root';
/** Paths to which a body is sent, and whether the caller has a credential. */
const RECEIVERS = {
  'a route': '/modules/shop/http/items',
  'a raw route': '/modules/raw/http/items',
  'a described route': '/modules/shop/http/described',
  'a route that streams': '/modules/streamed/http/items',
  'the console bridge': '/modules/shop/http/console-bridge/shop.use',
  mcp: '/mcp',
  explanations: '/explain',
} as const;
const READERS = {
  'a route': '/modules/shop/http/items',
  'a raw route': '/modules/raw/http/items',
  'a described route': '/modules/shop/http/described',
  'a route that streams': '/modules/streamed/http/items',
  'a stream of lines': '/modules/shop/http/lines',
  'a stream of events': '/modules/shop/http/events',
} as const;
/** Parts of a head of a provider. */
const ANSWERED: Readonly<Record<string, (bytes: number) => Readonly<Record<string, string>>>> = {
  'a long header': (bytes) => ({ 'x-any': 'a'.repeat(bytes) }),
  'a content type': (bytes) => ({ 'content-type': `application/json${';a=b'.repeat(bytes / 4)}` }),
  'a vary': (bytes) => ({ vary: 'a,'.repeat(bytes / 2) }),
  'a cache-control': (bytes) => ({ 'cache-control': 'max-age=1,'.repeat(bytes / 10) }),
  links: (bytes) => ({ link: '</a>; rel="next",'.repeat(bytes / 17) }),
  'many headers': (bytes) =>
    Object.fromEntries(Array.from({ length: bytes / 16 }, (_, n) => [`x-${n}`, 'a'])),
};

/** Twice the body costs at most 2.5 times as much, and no body holds the event loop up. */
describe('the CPU time of a body of any kind', function () {
  this.timeout(600_000);
  let host: RunningHost;
  let provider: Server;
  let client: CheapClient;
  let answer: { body: Buffer; status: number; headers: Readonly<Record<string, string>> };

  before(async () => {
    provider = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      request.resume().on('end', () => {
        const isLines = request.url?.startsWith('/lines');
        const stream = isLines ? 'application/x-ndjson' : 'text/event-stream';
        const isStream = isLines === true || request.url?.startsWith('/events') === true;
        const type = isStream ? stream : 'application/json';
        const length = isStream ? {} : { 'content-length': answer.body.length };
        response.writeHead(answer.status, { 'content-type': type, ...length, ...answer.headers });
        response.end(answer.body);
      });
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const isRaw = { responses: { mode: 'raw' } };
    const isStreamed = { limits: { hold_bytes: 65_536, hold_request_bytes: 65_536 } };
    host = await startHost({
      args: ['--memory-budget', '1GiB', '--actor-budget', '1GiB'],
      files: {
        'shop.json': describeModule('shop', url, routesOf('shop')),
        'raw.json': describeModule('raw', url, routesOf('raw'), isRaw),
        'streamed.json': describeModule('streamed', url, routesOf('streamed'), isStreamed),
        'long.json': describeModule('long', url, routesOf('long'), { limits: LONG }),
        'long-raw.json': describeModule('long-raw', url, routesOf('long-raw'), {
          ...isRaw,
          limits: LONG,
        }),
      },
    });
    client = new CheapClient(host.port);
  });

  beforeEach(() => {
    answer = { body: Buffer.from('{}'), status: 200, headers: {} };
  });

  after(async () => {
    client?.close();
    await host?.stop();
    provider?.closeAllConnections();
    provider?.close();
  });

  const post = (path: string, body: Buffer) => {
    const type = ['content-type: application/json', `content-length: ${body.length}`];
    const lines = [`POST ${path} HTTP/1.1`, 'host: 127.0.0.1', TOKEN, ...type];
    return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
  };
  const get = (path: string) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${TOKEN}\r\n\r\n`);

  /** Measures each kind, and expects no problem. */
  const expectBounded = async (
    title: string,
    kinds: readonly string[],
    run: (kind: string, isFull: boolean) => Promise<unknown>,
    bounds: CostBounds = USUAL,
  ) => {
    const problems: string[] = [];
    let dearest: (InputCost & { readonly kind: string }) | null = null;
    for (const kind of kinds) {
      const cost = await measureCost((isFull) => run(kind, isFull), bounds);
      if (cost.problem !== null) problems.push(`${kind}: ${cost.problem}`);
      if (cost.turnMs > (dearest?.turnMs ?? 0)) dearest = { ...cost, kind };
    }
    const { kind, fullMs = 0, turnMs = 0 } = dearest ?? {};
    console.log(`      ${title}: ${fullMs.toFixed(0)} ms, ${turnMs.toFixed(1)} in a turn: ${kind}`);
    expect(problems).to.deep.equal([]);
  };

  for (const [title, path] of Object.entries(RECEIVERS)) {
    it(`is in proportion to its length at most, sent to ${title}`, async () => {
      const requests = new Map<string, readonly [Buffer, Buffer]>();
      for (const [kind, write] of Object.entries(BODY_PARTS)) {
        const create = (bytes: number) => post(path, toBytes(write(bytes)));
        requests.set(kind, [create(REQUEST_BYTES / 2), create(REQUEST_BYTES)]);
      }
      const send = (kind: string, isFull: boolean) =>
        client.send(requests.get(kind)?.[isFull ? 1 : 0] as Buffer);
      await expectBounded(title, [...requests.keys()], send, SPECIAL.get(title));
    });
  }

  for (const [title, path] of Object.entries(READERS)) {
    for (const status of [200, 422]) {
      it(`is in proportion to its length at most, answered with ${status} by ${title}`, async () => {
        const bodies = new Map<string, readonly [Buffer, Buffer]>();
        for (const [kind, write] of Object.entries(BODY_PARTS)) {
          const create = (bytes: number) => Buffer.from(`${write(bytes)}\n\n`);
          bodies.set(kind, [create(RESPONSE_BYTES / 2), create(RESPONSE_BYTES)]);
        }
        const request = get(path);
        await expectBounded(title, [...bodies.keys()], (kind, isFull) => {
          answer = { ...answer, status, body: bodies.get(kind)?.[isFull ? 1 : 0] as Buffer };
          return client.send(request);
        });
      });
    }
  }

  it('is in proportion to the head of a provider', async () => {
    const request = get(READERS['a raw route']);
    await expectBounded('heads', Object.keys(ANSWERED), (kind, isFull) => {
      const headers = ANSWERED[kind]?.(isFull ? 15_000 : 7_500) ?? {};
      answer = { ...answer, headers };
      return client.send(request);
    });
  });

  for (const [title, module] of [
    ['wrapped', 'long'],
    ['raw', 'long-raw'],
  ] as const) {
    for (const kind of ['different objects', 'arrays', 'escapes', 'an open array']) {
      it(`does not block the event loop with 64 MiB of ${kind}, ${title}`, async () => {
        const path = `/modules/${module}/http/items`;
        const write = BODY_PARTS[kind] as (bytes: number) => string;
        const [half, full] = [LONG_BYTES / 2, LONG_BYTES].map((bytes) => toBytes(write(bytes)));
        const [halfRequest, fullRequest] = [half, full].map((body) => post(path, body as Buffer));
        const send = (_: string, isFull: boolean) =>
          client.send((isFull ? fullRequest : halfRequest) as Buffer);
        const read = (_: string, isFull: boolean) => {
          answer = { ...answer, body: (isFull ? full : half) as Buffer };
          return client.send(get(path));
        };
        // How much of the memory is new differs from run to run.
        const bounds = { ratio: Number.POSITIVE_INFINITY, turnMs: TURN_MS };
        await expectBounded(`sent, ${title}`, [kind], send, bounds);
        await expectBounded(`answered, ${title}`, [kind], read, bounds);
      });
    }
  }
});

/** A lone surrogate becomes a byte that is no UTF-8. */
function toBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (!text.endsWith('\udfff"')) return bytes;
  return Buffer.concat([bytes.subarray(0, -4), Buffer.from([0xff, 0x22])]);
}

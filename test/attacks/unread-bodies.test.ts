import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { MemoryBudget } from '../../core/provider/memory-budget.js';
import { signIn } from '../support/console/console-client.js';
import { describeModule } from '../support/http/modules.js';
import { sendFrom } from '../support/http/send-from.js';
import { createFrame, KEY, writeAccepted } from '../support/http/use-websockets.js';
import { waitUntil } from '../support/http/wait-until.js';
import { parseExposition } from '../support/observability/exposition.js';
import { type RunningHost, startHost } from '../support/start-host.js';
import { type StreamingProvider, startStreamingProvider } from '../support/streaming-provider.js';

const MIB = 1_048_576;
const BUDGET = 8 * MIB;
const ACTOR_SHARE = BUDGET / 4;
/** The share of one address without credentials. */
const ADDRESS_SHARE = BUDGET / 16;
/** More than the share of an actor has room for, where each holds a single step of 64 KiB. */
const CONNECTIONS = 40;
const ATTACKER = '127.0.0.2';
const OTHERS = ['127.0.0.3', '127.0.0.4', '127.0.0.5'];
const ROUNDS = 2;
/** More than the buffers of the system and a share hold together. */
const LARGE_BYTES = 12 * MIB;
const PART = Buffer.alloc(65_536, 'a');
const TEXT = 'a'.repeat(131_072);
const DEV_TOKEN = 'dev-service:attacker:open.read';

const ROUTES = [
  { path: '/small' },
  { path: '/json' },
  { path: '/whole' },
  { path: '/kept', operation: { cache: { ttl_ms: 60_000, shared: true } } },
  { path: '/bytes', operation: { response: 'bytes' } },
  { path: '/sse', operation: { stream: 'sse' } },
  { path: '/ndjson', operation: { stream: 'ndjson' } },
  { path: '/socket', operation: { stream: 'websocket' } },
].map((route) => ({ method: 'GET', capability: 'open.read', access: 'public', ...route }));

const LIMITS = { concurrency: 1000, stream: { per_actor: 1000, total: 2000 } };
const STREAMED = { ...LIMITS, response_bytes: 1024 * MIB };
const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': KEY,
};
const SSE = { accept: 'text/event-stream' };

interface Kind {
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Requests that the client pipelines on each connection. Default 1. */
  readonly pipelined?: number;
  /** Sent after the head without end. */
  readonly flood?: Buffer;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'streamed JSON': { target: '/modules/open/http/json' },
  'streamed JSON in raw mode': { target: '/modules/raw/http/json' },
  bytes: { target: '/modules/open/http/bytes' },
  'bytes in raw mode': { target: '/modules/raw/http/bytes' },
  'server-sent events': { target: '/modules/open/http/sse', headers: SSE },
  'server-sent events in raw mode': { target: '/modules/raw/http/sse', headers: SSE },
  'lines of JSON': {
    target: '/modules/open/http/ndjson',
    headers: { accept: 'application/x-ndjson' },
  },
  'frames of a provider': { target: '/modules/open/http/socket', headers: HANDSHAKE },
  'frames of a caller': {
    target: '/modules/open/http/socket?deaf',
    headers: HANDSHAKE,
    flood: createFrame(2, PART, { mask: Buffer.from([1, 2, 3, 4]) }),
  },
  'held JSON': { target: '/modules/held/http/whole', pipelined: 30 },
  'kept JSON': { target: '/modules/held/http/kept', pipelined: 30 },
};

/** Sends what a test writes. */
let waiting: ServerResponse | null = null;

describe('clients of one address that read nothing', () => {
  let provider: StreamingProvider;
  let host: RunningHost;
  const sockets: Socket[] = [];

  before(async () => {
    provider = await startStreamingProvider(answer);
    provider.onUpgrade(openSocket);
    const describe = (name: string, overrides: object) =>
      describeModule(name, provider.url, ROUTES, { public: true, ...overrides });
    host = await startHost({
      args: ['--memory-budget', String(BUDGET)],
      files: {
        'open.json': describe('open', { limits: STREAMED }),
        'raw.json': describe('raw', { limits: STREAMED, responses: { mode: 'raw' } }),
        'held.json': describe('held', { limits: LIMITS }),
      },
    });
    await signIn(host);
  });

  afterEach(async () => {
    for (const socket of [...sockets.splice(0), ...provider.sockets]) socket.destroy();
    await waitUntil('the release of everything', async () => {
      const { held, anonymous } = await measure();
      return held + anonymous === 0;
    });
  });

  after(async () => {
    await host.stop();
    await provider.stop();
  });

  const measure = async () => {
    const headers = { authorization: 'Bearer dev-system:root' };
    const { status, text } = await sendFrom('127.0.0.1', host.port, {
      target: '/metrics',
      headers,
    });
    expect(status, 'status of /metrics').to.equal(200);
    const read = parseExposition(text);
    return {
      held: read.sum('modgate_held_bytes'),
      anonymous: read.sum('modgate_anonymous_held_bytes'),
      rejected: read.sum('modgate_memory_rejected_total'),
    };
  };

  const attack = (kind: Kind, token: string | null) => {
    for (let count = 0; count < CONNECTIONS; count += 1) {
      const socket = connect({ host: '127.0.0.1', port: host.port, localAddress: ATTACKER });
      sockets.push(socket.pause());
      socket.on('error', () => {});
      socket.on('connect', () => {
        socket.write(writeRequest(kind, token).repeat(kind.pipelined ?? 1));
        if (kind.flood !== undefined) flood(socket, kind.flood);
      });
    }
  };

  /** Attacks, and measures until rejections stop or the share is exceeded. @returns what failed */
  const findHarm = async (kind: Kind, token: string | null): Promise<string | null> => {
    const { rejected: before } = await measure();
    const share = token === null ? ADDRESS_SHARE : ACTOR_SHARE;
    attack(kind, token);
    let harm: string | null = null;
    let isCut = false;
    await waitUntil(
      'the first rejection',
      async () => {
        const { held, anonymous, rejected } = await measure();
        const used = token === null ? anonymous : held;
        if (used > share) harm = `holds ${used} of ${share} bytes`;
        isCut = rejected > before;
        return isCut || harm !== null;
      },
      60_000,
    );
    for (let round = 0; round < ROUNDS && harm === null; round += 1) {
      const { held, anonymous } = await measure();
      const used = token === null ? anonymous : held;
      harm = used > share ? `holds ${used} of ${share} bytes` : await findUnserved();
    }
    return harm;
  };

  const findUnserved = async (): Promise<string | null> => {
    for (const from of OTHERS) {
      const small = await sendFrom(from, host.port, { target: '/modules/open/http/small' });
      if (small.status !== 200) return `${from} gets ${small.status}`;
      const large = await sendFrom(from, host.port, { target: '/modules/open/http/bytes?end' });
      if (large.bytes !== LARGE_BYTES) return `${from} gets ${large.bytes} bytes`;
    }
    // Also for an operator who shares the address of the attacker.
    for (const from of [ATTACKER, ...OTHERS]) {
      const signedIn = await sendFrom(from, host.port, {
        method: 'POST',
        target: '/console/api/session',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ token: 'dev-system:operator' }),
      });
      if (signedIn.status !== 204) return `sign-in from ${from} gets ${signedIn.status}`;
    }
    for (const target of ['/livez', '/readyz']) {
      const { status } = await sendFrom(ATTACKER, host.port, { target });
      if (status !== 200) return `${target} gets ${status}`;
    }
    return null;
  };

  for (const [name, kind] of Object.entries(KINDS)) {
    it(`hold their share and do not block others: ${name}`, async () => {
      expect(await findHarm(kind, null)).to.equal(null);
    });
  }

  for (const name of ['bytes', 'server-sent events', 'frames of a provider', 'held JSON']) {
    it(`hold the share of their token: ${name}`, async () => {
      expect(await findHarm(KINDS[name] as Kind, DEV_TOKEN)).to.equal(null);
    });
  }

  it('hold their share and do not block others: files of the console', async () => {
    const page = await sendFrom('127.0.0.1', host.port, { target: '/console' });
    const [target] = /\/console\/assets\/main-\w+\.js/.exec(page.text) ?? [];
    if (target === undefined) throw new Error('the console has no script');
    expect(await findHarm({ target, pipelined: 50 }, null)).to.equal(null);
  });

  it('are recorded as cut', async () => {
    const token = 'dev-service:recorded:open.read';
    for (const name of ['bytes', 'server-sent events', 'frames of a provider']) {
      expect(await findHarm(KINDS[name] as Kind, token), name).to.equal(null);
      for (const socket of [...sockets.splice(0), ...provider.sockets]) socket.destroy();
    }
    const headers = { authorization: 'Bearer dev-system:root' };
    const target = '/calls?actor=service:recorded&limit=1000';
    const { text } = await sendFrom('127.0.0.1', host.port, { target, headers });
    const { calls } = JSON.parse(text) as { calls: Record<string, unknown>[] };
    // Others were rejected before their head.
    const begun = calls.filter((call) => typeof call['bytes_out'] === 'number');
    const find = (route: string, expected: object) =>
      begun.find(
        (call) =>
          call['route'] === route &&
          Object.entries(expected).every(([key, value]) => call[key] === value),
      );
    const cut = { status: 502, failure: 'overloaded' };
    expect(find('/bytes', cut)?.['bytes_out'], 'bytes').to.be.above(0);
    expect(find('/sse', { ...cut, stream_end: 'problem' })?.['bytes_out']).to.be.above(0);
    expect(find('/socket', { closed_by: 'host', close_code: 1006 })).to.not.equal(undefined);
  });

  for (const name of Object.keys(KINDS).filter((kind) => KINDS[kind]?.pipelined === undefined)) {
    it(`are found in a host that reserves without a limit: ${name}`, async () => {
      const { tryAdd } = MemoryBudget.prototype;
      MemoryBudget.prototype.tryAdd = function (bytes, use) {
        this.remove(-bytes, use);
        return null;
      };
      try {
        expect(await findHarm(KINDS[name] as Kind, null)).to.match(/^holds \d+ of/);
      } finally {
        MemoryBudget.prototype.tryAdd = tryAdd;
      }
    });
  }

  it('get 502 before the head while their share is used up', async () => {
    expect(await findHarm(KINDS['bytes'] as Kind, null)).to.equal(null);
    const { status, text } = await sendFrom(ATTACKER, host.port, {
      target: '/modules/open/http/bytes?end',
    });
    expect(status).to.equal(502);
    expect(text).to.contain('overloaded').and.to.contain('address-budget');
    // Nothing was sent to the provider.
    expect(text).to.not.contain('provider_status');
  });

  it('leave a client of the same address its stream, as long as it reads', async () => {
    const { port } = host;
    const fast = connect({ host: '127.0.0.1', port, localAddress: ATTACKER });
    sockets.push(fast);
    let received = 0;
    fast
      .on('error', () => {})
      .on('data', (part) => {
        received += part.length;
      });
    fast.write(writeRequest({ target: '/modules/open/http/bytes?wait' }, null));
    await waitUntil('the stream', () => waiting !== null && received > 0);
    expect(await findHarm(KINDS['bytes'] as Kind, null)).to.equal(null);
    for (let count = 0; count < 50; count += 1) {
      const expected = received + PART.length;
      waiting?.write(PART);
      await waitUntil('the part', () => received >= expected || fast.destroyed);
    }
    expect(fast.destroyed).to.equal(false);
  });

  it('are no clients that read slowly', async () => {
    const response = await fetch(`${host.url}/modules/open/http/bytes?end`);
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.length;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(bytes).to.equal(LARGE_BYTES);
  });
});

function writeRequest({ target, headers = {} }: Kind, token: string | null): string {
  const all: Record<string, string> = { host: '127.0.0.1', ...headers };
  if (token !== null) all['authorization'] = `Bearer ${token}`;
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`GET ${target} HTTP/1.1`, ...lines, '\r\n'].join('\r\n');
}

/** Writes at the speed of the other end. */
function flood(target: Duplex | ServerResponse, part: Buffer | string): void {
  const write = () => {
    while (!target.destroyed && target.write(part));
  };
  target.on('drain', write);
  write();
}

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  response.on('error', () => {});
  const begin = (type: string) => response.writeHead(200, { 'content-type': type });
  if (url.startsWith('/bytes')) {
    begin('application/octet-stream');
    if (url.endsWith('?end')) response.end(Buffer.alloc(LARGE_BYTES));
    else if (url.endsWith('?wait')) {
      response.write(PART);
      waiting = response;
    } else flood(response, PART);
  } else if (url.startsWith('/sse')) {
    begin('text/event-stream');
    flood(response, `data: ${TEXT}\n\n`);
  } else if (url.startsWith('/ndjson')) {
    begin('application/x-ndjson');
    flood(response, `{"a":"${TEXT}"}\n`);
  } else {
    begin('application/json');
    if (url.startsWith('/small')) response.end('{}');
    else if (url.startsWith('/json')) {
      response.write('["');
      flood(response, PART);
    } else response.end(JSON.stringify('a'.repeat(MIB / 4)));
  }
}

function openSocket(request: IncomingMessage, connection: Duplex): void {
  connection.write(writeAccepted(request));
  if (request.url?.endsWith('?deaf') === true) connection.pause();
  else flood(connection, createFrame(2, PART));
}

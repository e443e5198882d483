import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import {
  type ServerOptions,
  serveFetch,
  startMcpServer,
  type TestServer,
  type TestTool,
} from '../../support/mcp/mcp-server.js';
import { describeTools } from '../../support/mcp/tools-module.js';
import { sideBySide } from '../../support/side-by-side.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

const TOOLS: readonly TestTool[] = [
  {
    name: 'session',
    call: (_args, { sessionId = 'none' }) => ({ content: [{ type: 'text', text: sessionId }] }),
  },
];

/** The default timeout of calls (5 s) is too short for a dozen of these tests at once. */
const describeModule = (url: string, config: object = {}) =>
  describeTools({ url, ...config }, ['session'], { limits: { timeout_ms: 30_000 } });

interface Answer {
  readonly status: number;
  readonly text: string | undefined;
  readonly failure: string | undefined;
  readonly detail: string | undefined;
  readonly retryAfter: string | null;
}

async function call({ url }: RunningHost, actor = 'test'): Promise<Answer> {
  const response = await fetch(`${url}/modules/tools/http/tools/session`, {
    method: 'POST',
    headers: {
      authorization: `Bearer dev-service:${actor}:tools.use`,
      'content-type': 'application/json',
    },
    body: '{}',
  });
  // biome-ignore lint/suspicious/noExplicitAny: the envelope or a Problem
  const { data, errors = [], detail }: any = await response.json();
  const failure = errors.find(({ field }: { field: string }) => field === 'failure')?.reason;
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, text: data?.content[0].text, failure, detail, retryAfter };
}

interface Running<Server> {
  readonly host: RunningHost;
  readonly server: Server;
}

async function run<Server extends TestServer>(
  server: Server,
  test: (running: Running<Server>) => Promise<void>,
  config: object = {},
  more: object = {},
): Promise<void> {
  const host = await startHost({
    files: { 'tools.yaml': { ...describeModule(server.url, config), ...more } },
  });
  try {
    await test({ host, server });
  } finally {
    await host.stop();
    await server.stop();
  }
}

const answerWith = (id: unknown, result: object) => Response.json({ jsonrpc: '2.0', id, result });

/** For notifications, and requests of newer revisions. */
const decline = (id: unknown) => new Response(null, { status: id === undefined ? 202 : 400 });

const createHandshake = () => ({
  protocolVersion: '2025-11-25',
  capabilities: {},
  serverInfo: { name: 'own', version: '1' },
});

/** A server that can forget its session; its tool answers with the id of the session. */
async function serveForgetful(reject: (id?: unknown) => Response, capabilities: object = {}) {
  let session = 0;
  let isKnown = true;
  let rejectCall: typeof reject | null = null;
  const server = await serveFetch(async (request) => {
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method } = JSON.parse(await request.text());
    const header = request.headers.get('mcp-session-id');
    if (header !== null && (!isKnown || header !== `${session}`)) return reject(id);
    if (method === 'tools/call' && rejectCall !== null) return rejectCall(id);
    if (method === 'tools/call')
      return answerWith(id, { content: [{ type: 'text', text: header }] });
    if (method === 'ping' && 'tools' in capabilities) return reject(id);
    if (method === 'ping') return answerWith(id, {});
    if (method === 'tools/list') return answerWith(id, { tools: [] });
    if (method !== 'initialize') return decline(id);
    session += 1;
    isKnown = true;
    const response = answerWith(id, { ...createHandshake(), capabilities });
    response.headers.set('mcp-session-id', `${session}`);
    return response;
  });
  return {
    ...server,
    forget: () => {
      isKnown = false;
    },
    rejectCalls: (value: boolean, how = reject) => {
      rejectCall = value ? how : null;
    },
  };
}

const startServer = (options: ServerOptions) => startMcpServer(() => TOOLS, options);

const count = ({ requests }: TestServer, method: string) =>
  requests.filter(({ text }) => text.includes(`"${method}"`)).length;

const countHandshakes = (server: TestServer) => count(server, 'initialize');

/** Expects that a rejected call alone does not end the session. */
async function expectKept(
  host: RunningHost,
  server: Awaited<ReturnType<typeof serveForgetful>>,
): Promise<void> {
  server.rejectCalls(true);
  expect(await call(host)).to.include({ status: 502 });
  server.rejectCalls(false);
  expect(await call(host)).to.include({ status: 200 });
  expect(countHandshakes(server)).to.equal(1);
}

const { describe, it } = sideBySide();

describe('sessions with an MCP server', () => {
  for (const revision of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
    it(`speaks ${revision}`, async () => {
      const server = await startServer({ mode: 'sessions', revisions: [revision] });
      await run(server, async ({ host }) => {
        expect(await call(host)).to.include({ status: 200 });
        const started = host.logs().find(({ msg }) => msg === 'session started');
        expect(started).to.include({ revision });
      });
    });
  }

  it('speaks 2026-07-28 with a server that also has older revisions', async () => {
    await run(await startServer({ mode: 'stateless' }), async ({ host, server }) => {
      expect(await call(host)).to.include({ status: 200 });
      expect(countHandshakes(server)).to.equal(0);
      expect(server.requests.at(-1)?.headers).to.include({
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'session',
      });
    });
  });

  it('offers the revisions that the server names, after a refusal', async () => {
    const offered: unknown[] = [];
    const server = await serveFetch(async (request) => {
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      const { id, method, params } = JSON.parse(await request.text());
      const answer = (body: object) => Response.json({ jsonrpc: '2.0', id, ...body });
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === 'tools/call')
        return answer({ result: { content: [{ type: 'text', text: 'ok' }] } });
      if (method !== 'initialize') return answer({ error: { code: -32_601, message: 'no' } });
      offered.push(params.protocolVersion);
      return params.protocolVersion === '2025-03-26'
        ? answer({
            result: {
              protocolVersion: '2025-03-26',
              capabilities: {},
              serverInfo: { name: 'picky', version: '1' },
            },
          })
        : answer({
            error: {
              code: -32_602,
              message: 'unsupported',
              data: { supported: ['2025-03-26', '2024-11-05'] },
            },
          });
    });
    await run(server, async ({ host }) => {
      expect(await call(host)).to.include({ status: 200, text: 'ok' });
      expect(offered).to.deep.equal(['2025-11-25', '2025-03-26']);
    });
  });

  it('shares one session between callers', async () => {
    await run(await startServer({ mode: 'sessions' }), async ({ host, server }) => {
      const answers = await Promise.all(['a', 'b', 'c'].map((actor) => call(host, actor)));
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
      expect(answers[0]?.text).to.match(/^[0-9a-f-]{36}$/);
      expect(countHandshakes(server)).to.equal(1);
    });
  });

  it('gives each actor a session of its own with sessions: actor', async () => {
    const server = await startServer({ mode: 'sessions' });
    await run(
      server,
      async ({ host }) => {
        const [first, second] = await Promise.all([call(host, 'a'), call(host, 'b')]);
        expect(first.text).to.not.equal(second.text);
        expect((await call(host, 'a')).text).to.equal(first.text);
        expect(countHandshakes(server)).to.equal(2);
      },
      { sessions: 'actor' },
    );
  });

  it('rejects calls of more than 64 actors', async () => {
    const server = await startServer({ mode: 'sessions' });
    await run(
      server,
      async ({ host }) => {
        const actors = Array.from({ length: 64 }, (_, index) => `actor-${index}`);
        for (const actor of actors) expect(await call(host, actor)).to.include({ status: 200 });
        expect(await call(host, 'one-more')).to.include({ status: 502, failure: 'overloaded' });
        expect(await call(host, 'actor-0')).to.include({ status: 200 });
      },
      { sessions: 'actor' },
    );
  });

  it('opens one new session for all calls when the server lost it, and calls once more', async () => {
    await run(await startServer({ mode: 'sessions' }), async ({ host, server }) => {
      const before = await call(host);
      server.forgetSessions();
      const answers = await Promise.all([call(host), call(host), call(host)]);
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
      expect(answers[0]?.text).to.not.equal(before.text);
      expect(countHandshakes(server)).to.equal(2);
    });
  });

  for (const [what, reject] of Object.entries({
    '400 with a text': () =>
      new Response('Bad Request: No valid session ID provided', { status: 400 }),
    '400 with an error of another id': () =>
      Response.json(
        { jsonrpc: '2.0', id: 'server-error', error: { code: -32_600, message: 'no session' } },
        { status: 400 },
      ),
    'a status of 405': () => new Response(null, { status: 405 }),
    'a status of 410': () => new Response('Gone', { status: 410 }),
    'a status of 401': () => new Response('Unauthorized: Session not found', { status: 401 }),
    '403 with an error': (id: unknown) =>
      Response.json(
        { jsonrpc: '2.0', id, error: { code: -32_001, message: 'no such session' } },
        { status: 403 },
      ),
  } as Record<string, (id?: unknown) => Response>)) {
    it(`opens a new session when calls and pings get ${what}`, async () => {
      const server = await serveForgetful(reject);
      await run(server, async ({ host }) => {
        const before = await call(host);
        server.forget();
        const answers = await Promise.all([call(host), call(host)]);
        expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
        expect(answers[0]?.text).to.not.equal(before.text);
        expect(countHandshakes(server)).to.equal(2);
      });
    });

    it(`keeps the session when a call alone gets ${what}`, async () => {
      const server = await serveForgetful(reject);
      await run(server, async ({ host }) => {
        await expectKept(host, server);
      });
    });
  }

  it('keeps the session when calls and pings are denied, and lists of tools are not', async () => {
    const server = await serveForgetful(() => new Response(null, { status: 403 }), { tools: {} });
    await run(server, async ({ host }) => {
      const before = await call(host);
      server.rejectCalls(true);
      expect(await call(host)).to.include({ status: 502, failure: 'refused' });
      server.rejectCalls(false);
      expect(await call(host)).to.include({ text: before.text });
      server.forget();
      expect(await call(host)).to.include({ status: 200 });
      expect(countHandshakes(server)).to.equal(2);
    });
  });

  for (const [what, reject] of Object.entries({
    'a status of 400': () => new Response('Bad Request', { status: 400 }),
    '200 and the error -32600': (id: unknown) =>
      Response.json({ jsonrpc: '2.0', id, error: { code: -32_600, message: 'no' } }),
  } as Record<string, (id?: unknown) => Response>)) {
    it(`keeps the session when a call gets ${what}, and pings alone are denied`, async () => {
      const server = await serveForgetful(() => new Response(null, { status: 403 }), { tools: {} });
      await run(server, async ({ host }) => {
        const before = await call(host);
        server.rejectCalls(true, reject);
        expect(await call(host)).to.include({ status: 502 });
        expect(count(server, 'tools/call')).to.equal(2);
        server.rejectCalls(false);
        expect(await call(host)).to.include({ text: before.text });
        expect(countHandshakes(server)).to.equal(1);
      });
    });
  }

  it('lists the tools for a denied call while the ping of another waits', async () => {
    let session = 0;
    let isKnown = true;
    let isAsked = false;
    let release = () => {};
    const listed = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await serveFetch(async (request) => {
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      const { id, method } = JSON.parse(await request.text());
      const isLost = !isKnown && request.headers.get('mcp-session-id') === '1';
      if (method === 'ping') {
        isAsked = true;
        await listed;
        return answerWith(id, {});
      }
      if (method === 'tools/list' && isLost) {
        release();
        return new Response(null, { status: 403 });
      }
      if (method === 'tools/list') return answerWith(id, { tools: [] });
      if (method === 'tools/call' && isLost) {
        return new Response(null, { status: isAsked ? 403 : 400 });
      }
      if (method === 'tools/call') return answerWith(id, { content: [{ type: 'text', text: '' }] });
      if (method !== 'initialize') return decline(id);
      session += 1;
      const response = answerWith(id, { ...createHandshake(), capabilities: { tools: {} } });
      response.headers.set('mcp-session-id', `${session}`);
      return response;
    });
    await run(server, async ({ host }) => {
      expect(await call(host)).to.include({ status: 200 });
      isKnown = false;
      const rejected = call(host);
      await waitUntil('a ping', () => isAsked);
      expect(await call(host)).to.include({ status: 200 });
      expect(await rejected).to.include({ status: 502 });
      expect(countHandshakes(server)).to.equal(2);
    });
  });

  it('opens a new session when calls and pings get a status of 500, and repeats no call', async () => {
    const server = await serveForgetful(() => new Response('KeyError', { status: 500 }));
    await run(server, async ({ host }) => {
      expect(await call(host)).to.include({ status: 200 });
      server.forget();
      expect(await call(host)).to.include({ status: 502, failure: 'protocol' });
      await waitUntil('another session', async () => (await call(host)).status === 200);
      expect(countHandshakes(server)).to.equal(2);
    });
  });

  for (const [what, reject] of Object.entries({
    'the error -32600': (id: unknown) =>
      Response.json({ jsonrpc: '2.0', id, error: { code: -32_600, message: 'no session' } }),
    'no message': () =>
      new Response('data: {"error":"Session not found"}\n\n', {
        headers: { 'content-type': 'text/event-stream' },
      }),
  } as Record<string, (id?: unknown) => Response>)) {
    it(`opens a new session when calls and pings get 200 and ${what}`, async () => {
      const server = await serveForgetful(reject);
      await run(server, async ({ host }) => {
        await expectKept(host, server);
        server.forget();
        expect(await call(host)).to.include({ status: 502 });
        await waitUntil('another session', async () => (await call(host)).status === 200);
        expect(countHandshakes(server)).to.equal(2);
      });
    });
  }

  it('keeps the session when calls get a status of 503', async () => {
    const server = await serveForgetful(() => new Response(null, { status: 503 }));
    await run(server, async ({ host }) => {
      server.rejectCalls(true);
      expect(await call(host)).to.include({ status: 502, failure: 'unavailable' });
      server.rejectCalls(false);
      expect(await call(host)).to.include({ status: 200 });
      expect(countHandshakes(server)).to.equal(1);
    });
  });

  for (const [what, resumed] of Object.entries({
    'a status of 404': () => new Response('no such session', { status: 404 }),
    'a body that is no stream': () => answerWith(1, { content: [] }),
  })) {
    it(`sends a call once whose stream is resumed with ${what}`, async () => {
      const server = await serveFetch(async (request) => {
        const { id, method } = request.method === 'POST' ? JSON.parse(await request.text()) : {};
        if (request.headers.get('last-event-id') !== null) return resumed();
        if (method === 'tools/call') {
          const headers = { 'content-type': 'text/event-stream' };
          return new Response('id: 1\nretry: 10\ndata:\n\n', { headers });
        }
        if (method !== 'initialize') return decline(id);
        const response = answerWith(id, createHandshake());
        response.headers.set('mcp-session-id', 'a');
        return response;
      });
      await run(server, async ({ host }) => {
        expect(await call(host)).to.include({ status: 502, failure: 'protocol' });
        const calls = server.requests.filter(({ text }) => text.includes('"tools/call"'));
        expect(calls).to.have.lengthOf(1);
      });
    });
  }

  for (const [what, answer] of Object.entries({
    'a status of 500': () => new Response('Internal Server Error', { status: 500 }),
    'no body': () => new Response('', { headers: { 'content-type': 'application/json' } }),
    'an error without an id': () =>
      Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_601, message: 'no' } }),
    'a stream without a response': () =>
      new Response(': end\n\n', { headers: { 'content-type': 'text/event-stream' } }),
  })) {
    it(`speaks an older revision with a server that answers the newest with ${what}`, async () => {
      const server = await serveFetch(async (request) => {
        if (request.method !== 'POST') return new Response(null, { status: 405 });
        const { id, method } = JSON.parse(await request.text());
        if (method === 'server/discover') return answer();
        if (method === 'initialize') return answerWith(id, createHandshake());
        if (method !== 'tools/call') return decline(id);
        return answerWith(id, { content: [{ type: 'text', text: 'ok' }] });
      });
      await run(server, async ({ host }) => {
        expect(await call(host)).to.include({ status: 200, text: 'ok' });
      });
    });
  }

  it('follows no redirect, and says so', async () => {
    const paths = new Set<string>();
    const server = await serveFetch(async ({ url }) => {
      paths.add(new URL(url).pathname);
      return new Response(null, { status: 307, headers: { location: '/mcp/' } });
    });
    await run(server, async ({ host }) => {
      await waitUntil('it failed', async () => (await call(host)).status === 502);
      expect(host.output()).to.include('HTTP status 307, a redirect, which is not followed');
      expect([...paths]).to.deep.equal(['/mcp']);
    });
  });

  for (const { breaks, status } of [
    { breaks: 3, status: 200 },
    { breaks: 4, status: 502 },
  ]) {
    it(`answers ${status} for an event stream that breaks ${breaks} times`, async () => {
      let opened = 0;
      let called: unknown;
      const server = await serveFetch(async (request) => {
        const { id, method } = request.method === 'POST' ? JSON.parse(await request.text()) : {};
        const isResumed = request.headers.get('last-event-id') !== null;
        if (method === 'initialize') {
          return answerWith(id, {
            protocolVersion: '2025-11-25',
            capabilities: {},
            serverInfo: { name: 'shaky', version: '1' },
          });
        }
        if (method === 'tools/call') called = id;
        else if (!isResumed) return decline(id);
        opened += 1;
        const result = { content: [{ type: 'text', text: 'late' }] };
        const data = opened > breaks ? JSON.stringify({ jsonrpc: '2.0', id: called, result }) : '';
        return new Response(`id: ${opened}\ndata: ${data}\n\n`, {
          headers: { 'content-type': 'text/event-stream' },
        });
      });
      await run(server, async ({ host }) => {
        expect(await call(host)).to.include({ status });
        const resumed = server.requests.flatMap(({ headers }) => headers['last-event-id'] ?? []);
        expect(resumed).to.deep.equal(['1', '2', '3']);
      });
    });
  }

  it('opens a broken event stream when the server asks for it, and not before', async () => {
    const server = await serveFetch(async (request) => {
      const { id, method } = request.method === 'POST' ? JSON.parse(await request.text()) : {};
      if (method === 'tools/call') {
        return new Response('retry: 3600000\n\nid: 1\ndata:\n\n', {
          headers: { 'content-type': 'text/event-stream' },
        });
      }
      if (method !== 'initialize') return decline(id);
      return answerWith(id, {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 'patient', version: '1' },
      });
    });
    await run(
      server,
      async ({ host }) => {
        expect(await call(host)).to.include({ status: 502, failure: 'timeout' });
        expect(server.requests.filter(({ headers }) => 'last-event-id' in headers)).to.be.empty;
      },
      {},
      { limits: { timeout_ms: 2_000 } },
    );
  });

  for (const { what, part } of [
    { what: 'floods it', part: `data: {"jsonrpc":"2.0","method":"x"}\n\n`.repeat(10_000) },
    { what: 'ends it', part: 'id: 1\ndata:\n\n' },
  ]) {
    it(`opens the stream of notifications ever later again while a server ${what}`, async () => {
      const openings: number[] = [];
      const server = await serveFetch(async (request) => {
        if (request.method === 'GET') {
          openings.push(performance.now());
          return new Response(part, { headers: { 'content-type': 'text/event-stream' } });
        }
        const { id, method } = JSON.parse(await request.text());
        if (method !== 'initialize') return decline(id);
        return answerWith(id, {
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 'restless', version: '1' },
        });
      });
      await run(server, async () => {
        await waitUntil('it was opened nine times', () => openings.length >= 9);
        const [before = 0, last = 0] = openings.slice(7);
        expect(last - before).to.be.above(1_500);
      });
    });
  }

  for (const mode of ['stateless', 'sessions'] as const) {
    it(`calls a server again that was down: ${mode}`, async () => {
      const first = await startServer({ mode });
      const host = await startHost({ files: { 'tools.yaml': describeModule(first.url) } });
      expect(await call(host)).to.include({ status: 200 });
      await first.stop();
      expect(await call(host)).to.include({ status: 502, failure: 'unavailable' });
      const second = await startServer({ mode, port: Number(new URL(first.url).port) });
      try {
        await waitUntil('it is called', async () => (await call(host)).status === 200);
      } finally {
        await host.stop();
        await second.stop();
      }
    });
  }

  for (const sessions of ['shared', 'actor']) {
    it(`answers 503 until the first handshake has ended: sessions ${sessions}`, async () => {
      const tools = await startServer({ mode: 'sessions' });
      let finish = () => {};
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      let isSlow = sessions === 'shared';
      const slow = await serveFetch(async (request) => {
        const body = await request.text();
        if (isSlow && body.includes('"initialize"')) await finished;
        const { method, headers } = request;
        // Set anew for the body.
        headers.delete('content-length');
        return fetch(tools.url, { method, headers, ...(body !== '' && { body }) });
      });
      const test = async ({ host }: { host: RunningHost }) => {
        if (sessions === 'actor') {
          await waitUntil('the first actor', async () => (await call(host, 'one')).status === 200);
          isSlow = true;
        }
        expect(await call(host)).to.deep.include({
          status: 503,
          failure: 'unavailable',
          detail: 'the provider of the module is starting',
          retryAfter: '1',
        });
        finish();
        await waitUntil('it is called', async () => (await call(host)).status === 200);
      };
      await run(slow, test, sessions === 'actor' ? { sessions } : {});
      await tools.stop();
    });
  }

  it('ends the session at the server with the module', async () => {
    await run(await startServer({ mode: 'sessions' }), async ({ host, server }) => {
      await call(host);
      await host.stop();
      expect(server.requests.map(({ method }) => method)).to.include('DELETE');
    });
  });

  it('names the older transport HTTP+SSE', async () => {
    const server = await serveFetch(async ({ method }) =>
      method === 'GET'
        ? new Response('event: endpoint\ndata: /messages\n\n', {
            headers: { 'content-type': 'text/event-stream' },
          })
        : new Response('Not Found', { status: 404 }),
    );
    await run(server, async ({ host }) => {
      await waitUntil('it waits', async () => (await call(host)).status === 502);
      expect(host.output()).to.include('the server speaks HTTP+SSE, which is not supported');
    });
  });
});

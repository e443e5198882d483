import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { serveFetch } from '../../support/mcp/mcp-server.js';
import {
  answerWith,
  call,
  count,
  countHandshakes,
  createHandshake,
  decline,
  run,
  startServer,
} from '../../support/mcp/session-module.js';
import { sideBySide } from '../../support/side-by-side.js';
import type { RunningHost } from '../../support/start-host.js';

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

describe('sessions that an MCP server may have lost', () => {
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

  const REJECTIONS: Readonly<Record<string, (id?: unknown) => Response>> = {
    'a status of 400': () => new Response('Bad Request', { status: 400 }),
    'a status of 403': () => new Response(null, { status: 403 }),
    'a status of 405': () => new Response(null, { status: 405 }),
    '200 and the error -32600': (id) =>
      Response.json({ jsonrpc: '2.0', id, error: { code: -32_600, message: 'no' } }),
  };
  for (const [what, reject] of Object.entries(REJECTIONS)) {
    for (const [ofPings, rejectPing] of Object.entries(REJECTIONS)) {
      it(`keeps the session when a call gets ${what}, and pings always get ${ofPings}`, async () => {
        const server = await serveForgetful(rejectPing, { tools: {} });
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
});

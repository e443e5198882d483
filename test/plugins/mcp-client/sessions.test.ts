import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { serveFetch } from '../../support/mcp/mcp-server.js';
import {
  answerWith,
  call,
  callNow,
  countHandshakes,
  createHandshake,
  decline,
  describeModule,
  run,
  STARTING,
  startServer,
} from '../../support/mcp/session-module.js';
import { sideBySide } from '../../support/side-by-side.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

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
        expect(await callNow(host)).to.deep.include({
          status: 503,
          failure: 'unavailable',
          detail: STARTING,
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

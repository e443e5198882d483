import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { serveFetch } from '../../support/mcp/mcp-server.js';
import {
  answerWith,
  call,
  createHandshake,
  decline,
  run,
} from '../../support/mcp/session-module.js';
import { sideBySide } from '../../support/side-by-side.js';

const { describe, it } = sideBySide();

describe('event streams of an MCP server that break', () => {
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
});

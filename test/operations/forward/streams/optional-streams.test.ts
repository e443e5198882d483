import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { call, ROOT } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { useScriptedProvider } from '../../../support/http/use-scripted-provider.js';
import { afterOpen, beginEvents, SSE } from '../../../support/http/use-streams.js';
import { callTool, listTools } from '../../../support/mcp/mcp-call.js';

const ROUTES = [
  {
    method: 'POST',
    path: '/chat',
    capability: 'chat.use',
    operation: {
      operation_id: 'chat',
      stream: 'sse',
      stream_optional: true,
      output_schema: { type: 'object', required: ['text'] },
    },
  },
  {
    method: 'GET',
    path: '/watch',
    capability: 'chat.use',
    operation: { operation_id: 'watch', stream: 'ndjson', stream_optional: true },
  },
];
const JSON_TYPE = 'application/json';

describe('routes of an optional stream', () => {
  const setup = useScriptedProvider(
    (url) => {
      const overrides = {
        schemas: { output: 'enforce' },
        mcp: { expose: 'all', approve: 'never' },
      };
      const responses = { mode: 'raw' };
      const limits = { stream: { per_actor: 1 } };
      return {
        'chat.json': describeModule('chat', url, ROUTES, overrides),
        'raw.json': describeModule('raw', url, ROUTES, { ...overrides, responses }),
        'long.json': describeModule('long', url, ROUTES, {
          ...{ ...overrides, responses },
          limits: { hold_bytes: 1000 },
        }),
        'few.json': describeModule('few', url, ROUTES, { ...overrides, limits }),
      };
    },
    ['--surfaces', 'mcp'],
  );
  let accept: string | undefined;
  const answer = (write: (response: ServerResponse) => void) =>
    setup.answer((request, response) => {
      accept = request.headers.accept;
      request.resume();
      write(response);
    });
  const answerJson = (body: string, status = 200) =>
    answer((response) => response.writeHead(status, { 'content-type': JSON_TYPE }).end(body));
  const answerEvents = () =>
    answer((response) => {
      beginEvents(response);
      response.end('data: 1\n\n');
    });
  const post = (headers: Record<string, string> = {}, module = 'chat') =>
    setup.fetch(module, '/chat', {
      method: 'POST',
      headers: { 'content-type': JSON_TYPE, ...headers },
      body: '{}',
    });

  it('are JSON for a client of HTTP/1.0, unless it accepts the stream alone', async () => {
    answerJson('{"text": "a"}');
    const send = async (module: string, headers: string) => {
      accept = undefined;
      const socket = connect(setup.host.port, '127.0.0.1');
      socket.write(
        `POST /modules/${module}/http/chat HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer ${ROOT}\r\ncontent-type: ${JSON_TYPE}\r\ncontent-length: 2\r\n${headers}\r\n{}`,
      );
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      return text;
    };
    for (const module of ['chat', 'raw', 'long']) {
      for (const headers of ['', `accept: ${JSON_TYPE}, text/event-stream\r\n`]) {
        const text = await send(module, headers);
        expect(text, headers).to.match(/^HTTP\/1.1 200 [\s\S]*"text": ?"a"/);
        expect(text).to.not.match(/\ntransfer-encoding/i);
      }
      expect(await send(module, 'accept: text/event-stream\r\n')).to.match(/^HTTP\/1.1 426 /);
      expect(accept).to.equal(undefined);
    }
    await send('chat', 'accept: */*\r\n');
    expect(accept).to.equal(JSON_TYPE);
  });

  it('put JSON of the provider into the envelope, and check it', async () => {
    answerJson('{"text": "a"}');
    const response = await post();
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^application\/json/);
    expect(((await response.json()) as { data: unknown }).data).to.deep.equal({ text: 'a' });
    answerJson('{}');
    expect((await post()).status).to.equal(502);
    answerJson('{', 200);
    expect((await post()).status).to.equal(502);
  });

  it('stream events of the provider, also to a caller that names no type', async () => {
    answerEvents();
    for (const headers of [{}, SSE, { accept: JSON_TYPE }]) {
      const response = await post(headers);
      expect(response.headers.get('content-type')).to.equal('text/event-stream');
      const text = await response.text();
      expect(text).to.match(/^event: modgate\.open\n/);
      expect(afterOpen(text)).to.match(/^data: 1\n\nevent: modgate\.end\n/);
    }
  });

  it('send the accept of the caller, otherwise JSON before the stream', async () => {
    answerJson('{"text": "a"}');
    for (const sent of [SSE.accept, 'text/event-stream;q=0.1, application/json']) {
      await post({ accept: sent });
      expect(accept).to.equal(sent);
    }
    await call(setup.host, { method: 'GET', target: '/modules/chat/http/watch' });
    expect(accept).to.equal('application/json, application/x-ndjson;q=0.5');
  });

  it('answer with null for a response without a body, and reject other types', async () => {
    answer((response) => response.writeHead(204).end());
    const empty = await setup.fetch('chat', '/watch');
    expect(((await empty.json()) as { data: unknown }).data).to.equal(null);
    answer((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
    expect((await post()).status).to.equal(502);
  });

  it('have no HEAD', async () => {
    expect((await setup.fetch('chat', '/watch', { method: 'HEAD' })).status).to.equal(404);
  });

  it('carry both in raw mode too', async () => {
    answerJson('{"text": "a"}');
    expect(await (await post({}, 'raw')).json()).to.deep.equal({ text: 'a' });
    answerEvents();
    expect(await (await post({}, 'raw')).text()).to.include('data: 1\n\n');
  });

  it('check JSON of any length in raw mode', async () => {
    const text = 'a'.repeat(5000);
    answerJson(JSON.stringify({ text }));
    expect(await (await post({}, 'long')).json()).to.deep.equal({ text });
    answerJson(JSON.stringify({ other: text }));
    expect((await post({}, 'long')).status).to.equal(502);
  });

  it('count only open streams toward the limits of streams', async () => {
    answer((response) => {
      beginEvents(response);
      response.write('data: 1\n\n');
    });
    const open = await post({}, 'few');
    expect(open.status).to.equal(200);
    expect((await post({}, 'few')).status).to.equal(429);
    answerJson('{"text": "a"}');
    expect((await post({}, 'few')).status).to.equal(200);
    await open.body?.cancel();
  });

  it('describe both in the API description', async () => {
    const response = await fetch(`${setup.host.url}/openapi.json`, {
      headers: { authorization: `Bearer ${ROOT}` },
    });
    const { paths } = (await response.json()) as {
      paths: Record<string, { post: { responses: Record<string, { content: object }> } }>;
    };
    const { content } = paths['/modules/chat/http/chat']?.post.responses['200'] ?? {};
    expect(Object.keys(content ?? {})).to.deep.equal([JSON_TYPE, 'text/event-stream']);
  });

  it('are explained as callable whatever a caller accepts', async () => {
    const target = encodeURIComponent('/modules/chat/http/watch');
    const response = await fetch(`${setup.host.url}/explain?method=GET&target=${target}`, {
      headers: { authorization: `Bearer ${ROOT}` },
    });
    const { checks } = (await response.json()) as { checks: { check: string; outcome: string }[] };
    expect(checks.find(({ check }) => check === 'accept')?.outcome).to.equal('pass');
  });

  it('are tools that ask for JSON, and fail with a stream', async () => {
    const names = (await listTools(setup.host, { module: 'chat' })).map(({ name }) => name);
    expect(names).to.deep.equal(['chat_chat', 'chat_watch']);
    answerJson('{"text": "a"}');
    const answered = await callTool(setup.host, 'chat_chat', '{"body":{}}');
    expect(answered.content[0]?.text).to.equal('{"text": "a"}');
    expect(accept).to.equal(JSON_TYPE);
    answerEvents();
    for (const tool of ['chat_chat', 'raw_chat']) {
      const { isError, content } = await callTool(setup.host, tool, '{"body":{}}');
      expect(isError).to.equal(true);
      expect(JSON.stringify(content)).to.include('a stream of events');
    }
  });
});

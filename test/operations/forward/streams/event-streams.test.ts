import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { ROOT } from '../../../support/http/call.js';
import {
  afterOpen,
  beginEvents,
  NDJSON,
  problemOf,
  readStream,
  SSE,
  useStreams,
} from '../../../support/http/use-streams.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const END = 'event: modgate.end\ndata: {"reason":"complete"}\n\n';

describe('streams of events', () => {
  const setup = useStreams();
  const recorded = (expected: object) =>
    waitUntil('the call is recorded', async () => {
      const call = await setup.lastCall();
      return Object.entries(expected).every(([name, value]) => call[name] === value);
    });

  it('begin with the envelope, pass events byte for byte, and end with an event', async () => {
    const events = ': a comment\r\n\r\nid: 7\rdata: ü\rdata: 2\r\rretry: 10\n\ndata:x\n\n';
    setup.answer((request, response) => {
      expect(request.headers).to.include({ ...SSE, 'last-event-id': '6' });
      expect(request.headers).not.to.have.property('modgate-deadline-ms');
      beginEvents(response);
      response.end(events);
    });
    const headers = { ...SSE, 'last-event-id': '6' };
    const response = await setup.fetch('events', '/events/a%20b?x=1', { headers });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/event-stream');
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(response.headers.get('x-accel-buffering')).to.equal('no');
    const text = await response.text();
    const open = /^event: modgate\.open\ndata: (.*)\n\n/.exec(text)?.[1] ?? '';
    expect(JSON.parse(open)).to.deep.equal({
      status: 'forwarded',
      module_name: 'events',
      method: 'GET',
      declared_path: '/events/{id}',
      provider_path: '/events/a b',
      capability: 'chat.use',
      path_params: { id: 'a b' },
    });
    expect(afterOpen(text)).to.equal(`${events}${END}`);
    await recorded({ status: 200, stream_end: 'complete', bytes_out: Buffer.byteLength(text) });
  });

  it('pass each event as soon as it is whole, and not before', async () => {
    let write = (_text: string) => {};
    setup.answer((_request, response) => {
      beginEvents(response);
      response.flushHeaders();
      write = (text) => response.write(text);
    });
    const stream = readStream(await setup.fetch('events', '/events/1', { headers: SSE }));
    await stream.until('modgate.open');
    write('data: 1\n\ndata: part');
    expect(await stream.until('data: 1\n\n')).not.to.include('part');
    write(' of one\n\n');
    await stream.until('data: part of one\n\n');
    await stream.cancel();
    await recorded({ status: 499, stream_end: 'client' });
  });

  it('answer a POST whose body asks for events', async () => {
    setup.answer((request, response) => {
      request.resume().on('end', () => {
        beginEvents(response, 'text/event-stream; charset=utf-8');
        response.end('data: hello\n\n');
      });
    });
    const headers = { ...SSE, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: '{"stream":true}' };
    const text = await (await setup.fetch('events', '/chat', init)).text();
    expect(afterOpen(text)).to.equal(`data: hello\n\n${END}`);
    const bytes = { ...init, headers: { ...SSE, 'content-type': 'text/plain' }, body: 'x' };
    expect(await (await setup.fetch('events', '/upload', bytes)).text()).to.include('data: hello');
  });

  it('are lines of JSON where the route says so', async () => {
    const lines = '{"a": 1}\r\n\n[1, 2]\n"text"\n{"last":  true}';
    setup.answer((_request, response) => {
      beginEvents(response, 'application/jsonl');
      response.end(lines);
    });
    const response = await setup.fetch('events', '/lines', { headers: NDJSON });
    expect(response.headers.get('content-type')).to.equal('application/x-ndjson');
    const text = await response.text();
    const [open = ''] = text.split('\n', 1);
    expect(JSON.parse(open)).to.have.nested.property('modgate\\.open.module_name', 'events');
    expect(afterOpen(text)).to.equal(`${lines}\n{"modgate.end":{"reason":"complete"}}\n`);
  });

  it('may have the media types that the route lists, and no others', async () => {
    setup.answer((_request, response) => {
      beginEvents(response, 'application/json');
      response.end('{"a":1}\n{"a":2}\n');
    });
    const listed = await (await setup.fetch('events', '/watch', { headers: NDJSON })).text();
    expect(afterOpen(listed)).to.match(/^\{"a":1\}\n\{"a":2\}\n\{"modgate.end"/);
    const other = await setup.fetch('events', '/lines', { headers: NDJSON });
    expect(other.status).to.equal(502);
    expect(await setup.lastCall()).to.include({
      failure: 'protocol',
      failure_detail: 'content-type application/json',
      detail:
        'the response of the provider of the module cannot be forwarded: content-type application/json: ' +
        'this route carries the media types of operation.stream_types',
    });
  });

  it('deliver what the provider ends in order, without the end of its last event too', async () => {
    for (const rest of ['data: 1', 'data: 1\n', 'data: 1\r']) {
      setup.answer((_request, response) => {
        beginEvents(response);
        response.end(rest);
      });
      const text = await (await setup.fetch('events', '/events/1', { headers: SSE })).text();
      expect(afterOpen(text)).to.equal(`${rest}\n\n${END}`);
    }
  });

  it('end with a problem where the provider breaks off, without what was not finished', async () => {
    setup.answer((_request, response) => {
      beginEvents(response);
      response.write('data: 1\n\ndata: 2\n');
      setTimeout(() => response.destroy(), 50);
    });
    const response = await setup.fetch('events', '/events/1', { headers: SSE });
    const text = await response.text();
    expect(afterOpen(text)).to.match(/^data: 1\n\nevent: modgate.problem\ndata: \{.*\}\n\n$/);
    expect(problemOf(text)).to.include({
      code: 'external_dependency_failure',
      status: 502,
      request_id: response.headers.get('x-request-id'),
    });
    await recorded({ status: 502, stream_end: 'problem', code: 'external_dependency_failure' });
  });

  for (const [title, path, headers, type, sent] of [
    [
      'an event with a name of the host',
      '/events/1',
      SSE,
      'text/event-stream',
      'data: {}\nevent: modgate.end\n\n',
    ],
    ['such a name without a space', '/events/1', SSE, 'text/event-stream', 'event:modgate.x\n\n'],
    [
      'such a name behind a carriage return',
      '/events/1',
      SSE,
      'text/event-stream',
      'id:1\revent: modgate.open\r\r',
    ],
    [
      'such a name behind a mark',
      '/events/1',
      SSE,
      'text/event-stream',
      '\u{feff}event: modgate.end\n\n',
    ],
    [
      'an event that is not UTF-8',
      '/events/1',
      SSE,
      'text/event-stream',
      Buffer.from('data: \xff\n\n', 'latin1'),
    ],
    ['a line that is no JSON', '/lines', NDJSON, 'application/x-ndjson', '{"a":\n1}\n'],
    [
      'a line that is not UTF-8',
      '/lines',
      NDJSON,
      'application/x-ndjson',
      Buffer.from('"\xff"\n', 'latin1'),
    ],
    [
      'a member of the host',
      '/lines',
      NDJSON,
      'application/x-ndjson',
      '{"a":1,"modgate.end":{}}\n',
    ],
    [
      'an escaped member of the host',
      '/lines',
      NDJSON,
      'application/x-ndjson',
      '{"\\u006dodgate.end":{}}\n',
    ],
  ] as const) {
    it(`end with a problem for ${title}`, async () => {
      const good = path === '/lines' ? '{"good":"modgate."}\n' : 'data: event: modgate.end\n\n';
      setup.answer((_request, response) => {
        beginEvents(response, type);
        response.write(good);
        response.write(sent);
      });
      const text = await (await setup.fetch('events', path, { headers })).text();
      expect(afterOpen(text)).to.match(
        /^(?:data: event: modgate.end\n\n|\{"good":"modgate."\}\n)[^\n]*modgate.problem/,
      );
      expect(problemOf(text)['errors']).to.deep.include({ field: 'failure', reason: 'protocol' });
      await recorded({ failure: 'protocol', stream_end: 'problem' });
    });
  }

  it('end with a problem for an event that is too large, complete or not', async () => {
    for (const [path, headers, type, sent] of [
      ['/events/1', SSE, 'text/event-stream', `data: ${'x'.repeat(60)}`],
      ['/events/1', SSE, 'text/event-stream', `data: ${'x'.repeat(60)}\n\n`],
      ['/lines', NDJSON, 'application/x-ndjson', `"${'x'.repeat(64)}"\n`],
    ] as const) {
      setup.answer((_request, response) => {
        beginEvents(response, type);
        response.write(sent);
      });
      const text = await (await setup.fetch('quick', path, { headers })).text();
      expect(text).not.to.include('xxx');
      expect(problemOf(text)['errors']).to.deep.include({ field: 'failure', reason: 'protocol' });
    }
  });

  it('get heartbeats while the provider is silent, which ends as a timeout', async () => {
    for (const [path, headers, type, beat] of [
      ['/events/1', SSE, 'text/event-stream', ':\n\n'],
      ['/lines', NDJSON, 'application/x-ndjson', '\n'],
    ] as const) {
      setup.answer((_request, response) => {
        beginEvents(response, type);
        response.flushHeaders();
      });
      const text = await (await setup.fetch('quick', path, { headers })).text();
      const beats = afterOpen(text).split(/event|\{/, 1)[0] ?? '';
      expect(beats.length).to.be.within(beat.length, 10 * beat.length);
      expect(beats.replaceAll(beat, '')).to.equal('');
      expect(problemOf(text)['errors']).to.deep.include({ field: 'failure', reason: 'timeout' });
    }
  });

  it('end after max_ms', async () => {
    setup.answer((_request, response) => {
      beginEvents(response);
      response.write('data: 1\n\n');
    });
    const text = await (await setup.fetch('short', '/events/1', { headers: SSE })).text();
    expect(afterOpen(text)).to.equal(
      'data: 1\n\nevent: modgate.end\ndata: {"reason":"max_ms"}\n\n',
    );
    await recorded({ status: 200, stream_end: 'max_ms' });
    await waitUntil('the provider is released', () => setup.provider.sockets.size === 0);
  });

  it('are 502 where the head does not come in time, and pass an error of the provider', async () => {
    setup.answer(() => {});
    const late = await setup.fetch('quick', '/events/1', { headers: SSE });
    expect(late.status).to.equal(502);
    expect(await setup.lastCall()).to.include({ failure: 'timeout', status: 502 });
    for (const type of ['application/json', 'text/event-stream']) {
      setup.answer((_request, response) => {
        response.writeHead(503, { 'content-type': type }).write('{}');
      });
      const failed = await setup.fetch('quick', '/events/1', { headers: SSE });
      expect(failed.status).to.equal(502);
    }
  });

  it('close the provider when the client goes', async () => {
    let isClosed = false;
    setup.answer((_request, response) => {
      beginEvents(response);
      response.write('data: 1\n\n');
      response.once('close', () => {
        isClosed = true;
      });
    });
    const controller = new AbortController();
    const init = { headers: SSE, signal: controller.signal };
    const stream = readStream(await setup.fetch('events', '/events/1', init));
    await stream.until('data: 1');
    controller.abort();
    await waitUntil('the provider is released', () => isClosed);
  });

  it('say 406 where accept does not name the type, after the capability', async () => {
    setup.answer((_request, response) => response.end());
    for (const accept of [
      '*/*',
      'text/*',
      'application/json',
      'text/event-stream;q=0',
      'application/x-ndjson',
    ]) {
      const response = await setup.fetch('events', '/events/1', { headers: { accept } });
      expect(response.status, accept).to.equal(406);
      expect(await response.json()).to.deep.include({
        code: 'not_acceptable',
        title: 'Not acceptable',
        errors: [{ field: 'accept', reason: 'expected text/event-stream' }],
      });
      expect(await setup.lastCall()).to.include({ step: 'accept' });
    }
    const authorization = 'Bearer dev-service:nobody:other';
    const headers = { authorization, accept: '*/*' };
    const response = await fetch(`${setup.host.url}/modules/events/http/events/1`, { headers });
    expect(response.status).to.equal(403);
  });

  it('are 200 where accept names the type among others', async () => {
    setup.answer((_request, response) => {
      beginEvents(response);
      response.end();
    });
    for (const accept of ['application/json, text/event-stream', 'Text/Event-Stream; q=0.5, */*']) {
      const response = await setup.fetch('events', '/events/1', { headers: { accept } });
      expect(response.status).to.equal(200);
      await response.text();
    }
  });

  it('have no HEAD', async () => {
    const response = await setup.fetch('events', '/events/1', { method: 'HEAD', headers: SSE });
    expect(response.status).to.equal(404);
  });

  it('are 426 for a client of HTTP/1.0', async () => {
    const socket = connect(setup.host.port, '127.0.0.1');
    socket.write(
      `GET /modules/events/http/events/1 HTTP/1.0\r\nhost: localhost\r\naccept: text/event-stream\r\nauthorization: Bearer ${ROOT}\r\n\r\n`,
    );
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).to.match(/^HTTP\/1.1 426 /);
  });

  it('are read from the provider no faster than the client reads them', async () => {
    const event = `data: ${'x'.repeat(60_000)}\n\n`;
    let sent = 0;
    let isOver = false;
    setup.answer((_request, response) => {
      beginEvents(response);
      const write = () => {
        while (!response.destroyed && !isOver) {
          sent += event.length;
          if (response.write(event)) continue;
          response.once('drain', write);
          return;
        }
      };
      write();
    });
    const socket = connect(setup.host.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.write(
      `GET /modules/events/http/events/1 HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nauthorization: Bearer ${ROOT}\r\n\r\n`,
    );
    let last = -1;
    await waitUntil('the provider waits', () => {
      const isStill = sent > 0 && sent === last;
      last = sent;
      return isStill;
    });
    expect(sent).to.be.below(64 * 1_048_576);
    socket.destroy();
    await waitUntil('the provider is released', () => setup.provider.sockets.size === 0);
    isOver = true;
  });
});

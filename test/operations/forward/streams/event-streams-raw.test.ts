import { expect } from 'chai';
import {
  beginEvents,
  NDJSON,
  readStream,
  SSE,
  useStreams,
} from '../../../support/http/use-streams.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const POST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };

describe('streams of events in raw mode', () => {
  const setup = useStreams();
  const failureOf = (promise: Promise<unknown>) =>
    promise.then(
      () => null,
      (error: unknown) => error,
    );

  it('are the bytes of the provider alone, whatever they are', async () => {
    const events = 'event: modgate.end\ndata: \n\nnot: an event';
    setup.answer((request, response) => {
      expect(request.headers.accept).to.equal('application/json');
      beginEvents(response, 'text/event-stream; charset=utf-8');
      response.write(events.slice(0, 9));
      setImmediate(() => response.end(events.slice(9)));
    });
    const headers = { ...POST.headers, accept: 'application/json' };
    const response = await setup.fetch('raw', '/chat', { ...POST, headers });
    expect(response.headers.get('content-type')).to.equal('text/event-stream');
    expect(response.headers.get('modgate-origin')).to.equal('provider');
    expect(response.headers.get('cache-control')).to.equal('private');
    expect(await response.text()).to.equal(events);
    await waitUntil(
      'the call is recorded',
      async () => (await setup.lastCall())['stream_end'] === 'complete',
    );
  });

  it('are JSON where the provider answers so, and any status of it', async () => {
    for (const status of [200, 201, 400, 503]) {
      setup.answer((_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end('{"a": 1}');
      });
      const response = await setup.fetch('raw', '/chat', POST);
      expect(response.status).to.equal(status);
      expect(await response.text()).to.equal('{"a": 1}');
    }
  });

  it('are JSON that is streamed where it is longer than it may be held', async () => {
    const text = JSON.stringify(Array.from({ length: 1000 }, (_, id) => ({ id })));
    const ask = (sent: string, length = {}) => {
      setup.answer((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...length }).end(sent);
      });
      return setup.fetch('held-raw', '/chat', POST);
    };
    const short = await ask('{"a": 1}');
    expect(short.headers.get('content-length')).to.equal('8');
    const long = await ask(text);
    expect(long.headers.get('content-length')).to.equal(null);
    expect(await long.text()).to.equal(text);
    const bad = await ask(`x${text}`);
    expect(bad.status).to.equal(502);
    expect((await ask('[]', { 'content-length': 400_001 })).status).to.equal(502);
    let finish = (_rest: string) => {};
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(text.slice(0, -1));
      finish = (rest) => response.end(rest);
    });
    for (const [rest, isWhole] of [
      [']', true],
      [']x', false],
      [`${' '.repeat(400_000)}]`, false],
    ] as const) {
      const response = await setup.fetch('held-raw', '/chat', POST);
      finish(rest);
      expect((await failureOf(response.text())) === null, rest.slice(0, 2)).to.equal(isWhole);
      const { status, failure } = isWhole
        ? { status: 200, failure: null }
        : { status: 502, failure: 'protocol' };
      await waitUntil('the call is recorded', async () => {
        const call = await setup.lastCall();
        return call['status'] === status && call['failure'] === failure;
      });
    }
  });

  it('pass an error that is a stream without its body, and reject any other type', async () => {
    setup.answer((_request, response) => {
      response.writeHead(429, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    const error = await setup.fetch('raw', '/chat', POST);
    expect(error.status).to.equal(429);
    expect(await error.text()).to.equal('');
    setup.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write('<p>');
    });
    expect((await setup.fetch('raw', '/chat', POST)).status).to.equal(502);
    setup.answer((_request, response) => {
      const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' };
      response.writeHead(200, headers).write('x');
    });
    expect((await setup.fetch('raw', '/chat', POST)).status).to.equal(502);
    await waitUntil('the provider is released', () => setup.provider.sockets.size === 0);
  });

  it('say their type to HEAD, and no length', async () => {
    for (const [path, type] of [
      ['/events/1', 'text/event-stream'],
      ['/events/1', 'text/event-stream; charset=utf-8'],
      ['/lines', 'application/x-ndjson'],
      ['/watch', 'application/json'],
    ] as const) {
      for (const length of [{}, { 'content-length': '8' }]) {
        setup.answer((_request, response) => {
          response.writeHead(200, { 'content-type': type, ...length }).end();
        });
        const response = await setup.fetch('raw', path, { method: 'HEAD' });
        expect(response.status, type).to.equal(200);
        expect(response.headers.get('content-type')).to.equal(type.split(';')[0]);
        expect(response.headers.get('content-length')).to.equal(null);
      }
    }
  });

  it('stream a listed type that is JSON elsewhere', async () => {
    let finish = () => {};
    setup.answer((_request, response) => {
      beginEvents(response, 'application/json');
      response.write('{"a":1}\n');
      finish = () => response.end('{"a":2}\n');
    });
    const stream = readStream(await setup.fetch('raw', '/watch', { headers: NDJSON }));
    await stream.until('{"a":1}\n');
    finish();
    expect(await stream.end()).to.equal('{"a":1}\n{"a":2}\n');
  });

  for (const [title, module, sent] of [
    ['breaks off', 'raw', 'data: 1\n\n'],
    ['is silent for too long', 'quick-raw', 'data: 1\n\n'],
    ['sends an event that is too large', 'quick-raw', `data: ${'x'.repeat(64)}`],
  ] as const) {
    it(`are cut where the provider ${title}`, async () => {
      setup.answer((_request, response) => {
        beginEvents(response);
        response.write(sent);
        if (title === 'breaks off') setImmediate(() => response.destroy());
      });
      const response = await setup.fetch(module, '/events/1', { headers: SSE });
      expect(await failureOf(response.text())).to.be.instanceOf(Error);
      await waitUntil(
        'the call is recorded',
        async () => (await setup.lastCall())['stream_end'] === 'problem',
      );
      expect(await setup.lastCall()).to.include({ status: 502 });
    });
  }

  it('are cut after max_ms, which is not a failure', async () => {
    setup.answer((_request, response) => {
      beginEvents(response);
      response.write('data: 1\n\n');
    });
    const response = await setup.fetch('short-raw', '/events/1', { headers: SSE });
    expect(await failureOf(response.text())).to.be.instanceOf(Error);
    await waitUntil(
      'the call is recorded',
      async () => (await setup.lastCall())['stream_end'] === 'max_ms',
    );
    expect(await setup.lastCall()).to.include({ status: 200, failure: null });
  });

  it('have no heartbeats', async () => {
    setup.answer((_request, response) => {
      beginEvents(response);
      response.write('data: 1\n\n');
      setTimeout(() => response.end('data: 2\n\n'), 200);
    });
    const response = await setup.fetch('quick-raw', '/events/1', { headers: SSE });
    expect(await response.text()).to.equal('data: 1\n\ndata: 2\n\n');
  });
});

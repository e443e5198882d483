import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { joinBody } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { useExchange } from '../../support/provider/use-exchange.js';
import {
  answerJson,
  startAnsweringProvider,
  startProvider,
  startRawProvider,
} from '../../support/provider.js';
import { createInvocation } from '../open-adapter.js';

describe('http adapter: one call', () => {
  const { keep, openOn, callRaw } = useExchange();

  it('sends target, headers and body as they are', async () => {
    const body = '{"n": 12345678901234567890, "x":1.10}\n ';
    let received = '';
    const upstream = await keep(
      startRawProvider((socket) =>
        socket.on('data', (bytes) => {
          received += bytes.toString('latin1');
          if (!received.endsWith(body)) return;
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        }),
      ),
    );
    const target = '/a%2Fb%41/;x=1/caf%C3%A9/./../a\'b(c)*!~?q=%zz&&=[]{}|"<>^`\\\u00e9';
    const headers = { 'content-type': 'application/json', 'x-tenant': 'a\u00e9b', accept: 'x/y' };
    const provider = await openOn(upstream.url);
    const operation = { method: 'PATCH', target, body: Buffer.from(body) } as const;
    await provider.invoke(createInvocation(operation, { headers }));
    expect(received.split('\r\n')).to.deep.equal([
      `PATCH ${target} HTTP/1.1`,
      `host: ${upstream.url.slice('http://'.length)}`,
      'connection: keep-alive',
      'content-type: application/json',
      'x-tenant: a\u00e9b',
      'accept: x/y',
      `content-length: ${body.length}`,
      '',
      body,
    ]);
  });

  it('skips interim responses, on each request of a connection', async () => {
    const interims = ['100 Continue', '102 Processing', '103 Early Hints\r\nlink: </a>'];
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
    let interim = '';
    let isDivided = false;
    const upstream = await keep(
      startRawProvider((socket) =>
        socket.on('data', () => {
          if (isDivided) socket.write(interim, () => setImmediate(() => socket.write(answer)));
          else socket.write(interim + answer);
        }),
      ),
    );
    const provider = await openOn(upstream.url);
    for (const line of interims) {
      interim = `HTTP/1.1 ${line}\r\n\r\n`;
      for (isDivided of [false, true]) {
        const body = Buffer.from('{}');
        const outcome = await provider.invoke(createInvocation({ method: 'POST', body }));
        expect([outcome.status, textOf(outcome)]).to.deep.equal([200, '{}']);
      }
    }
    // Not one for each request.
    expect(upstream.accepted()).to.be.below(2 * interims.length);
  });

  it('sends a Uint8Array that is a window of a larger buffer', async () => {
    const upstream = await keep(startProvider());
    const body = new Uint8Array(Buffer.from('xx{"a":1}yy')).subarray(2, 9);
    await (await openOn(upstream.url)).invoke(createInvocation({ method: 'POST', body }));
    expect(upstream.requests[0]?.body.toString()).to.equal('{"a":1}');
    expect(upstream.requests[0]?.headers['content-length']).to.equal('7');
  });

  it('sends GET and DELETE without a body and without content-length', async () => {
    const upstream = await keep(startProvider());
    const provider = await openOn(upstream.url);
    for (const method of ['GET', 'DELETE'] as const) {
      await provider.invoke(createInvocation({ method }));
    }
    for (const { headers } of upstream.requests) {
      expect(headers).not.to.have.any.keys('content-length', 'transfer-encoding');
    }
  });

  it('adds the path prefix of the endpoint', async () => {
    const upstream = await keep(startProvider());
    const provider = await openOn(`${upstream.url}/api/v1/`);
    await provider.invoke(createInvocation({ target: '/contacts?x=1' }));
    expect(upstream.requests[0]?.target).to.equal('/api/v1/contacts?x=1');
  });

  it('adds the credentials of the config', async () => {
    const upstream = await keep(startProvider());
    const secrets = { 'env:T': 'p:\u00fcss' };
    const ascii = { 'env:T': 'token' };
    const calls = [
      [{ bearer: 'env:T' }, ascii],
      [{ basic: { username: 'gate', password: 'env:T' } }, secrets],
      [{ header: { name: 'X-Api-Key', value: 'env:T' } }, ascii],
    ] as const;
    for (const [auth, references] of calls) {
      await (await openOn(upstream.url, { auth }, references)).invoke(createInvocation());
    }
    expect(upstream.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
      'Bearer token',
      `Basic ${Buffer.from('gate:p:\u00fcss').toString('base64')}`,
      undefined,
    ]);
    expect(upstream.requests[2]?.headers['x-api-key']).to.equal('token');
  });

  it('returns status, lower-case headers and the bytes of the body', async () => {
    const body = Buffer.from('{"n": 12345678901234567890}\n');
    const outcome = await callRaw(
      `HTTP/1.1 418 Teapot\r\nContent-Type:  application/json \t\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(outcome.status).to.equal(418);
    expect(outcome.headers['content-type']).to.equal('application/json');
    expect(outcome.headers['x-a']).to.equal('1, 2');
    expect(Buffer.from(joinBody(outcome.body))).to.deep.equal(body);
  });

  it('joins a chunked body of many pieces', async () => {
    const piece = 'x'.repeat(1_000);
    const chunks = Array.from({ length: 200 }, () => `3e8\r\n${piece}\r\n`).join('');
    const outcome = await callRaw(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\nx-trailer: 1\r\n\r\n`,
    );
    expect(textOf(outcome)).to.equal(piece.repeat(200));
    expect(outcome.headers).not.to.have.property('x-trailer');
  });

  it('reads the body of an error that ends with the connection', async () => {
    const outcome = await callRaw('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n{"a":1}');
    expect(textOf(outcome)).to.equal('{"a":1}');
  });

  it('never decompresses', async () => {
    const body = gzipSync('{"a":1}');
    const upstream = await keep(
      startProvider((_request, response) => {
        response.setHeader('content-encoding', 'gzip');
        response.end(body);
      }),
    );
    const outcome = await (await openOn(upstream.url)).invoke(createInvocation());
    expect(outcome.headers['content-encoding']).to.equal('gzip');
    expect(Buffer.from(joinBody(outcome.body))).to.deep.equal(body);
  });

  it('never follows a redirect', async () => {
    const upstream = await keep(
      startProvider((_request, response) => {
        response.writeHead(302, { location: '/elsewhere' }).end();
      }),
    );
    const outcome = await (await openOn(upstream.url)).invoke(createInvocation());
    expect(outcome.status).to.equal(302);
    expect(upstream.requests).to.have.length(1);
  });

  it('returns 204, and 304 with the length of an absent body', async () => {
    const none = await callRaw('HTTP/1.1 204 No Content\r\n\r\n');
    expect(none).to.deep.equal({ status: 204, headers: {}, body: null });
    const unmodified = await callRaw('HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n');
    expect(unmodified.status).to.equal(304);
    expect(unmodified.body).to.equal(null);
  });

  it('returns an empty body', async () => {
    const outcome = await callRaw('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    expect(outcome.status).to.equal(200);
    expect(textOf(outcome)).to.equal('');
  });

  it('ignores informational responses', async () => {
    const outcome = await callRaw(
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(outcome).to.deep.equal({
      status: 200,
      headers: { 'content-length': '2' },
      body: [Buffer.from('{}')],
    });
  });

  it('returns a whole response and discards bytes after it', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
    const upstream = await keep(
      startAnsweringProvider(`${answer}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"evil"`),
    );
    const provider = await openOn(upstream.url);
    for (const _ of [1, 2, 3]) {
      expect(textOf(await provider.invoke(createInvocation()))).to.equal('{}');
    }
    expect(upstream.accepted()).to.equal(3);
  });

  it('reuses a connection', async () => {
    const upstream = await keep(startProvider(answerJson({})));
    const provider = await openOn(upstream.url);
    for (let call = 0; call < 20; call += 1) {
      await provider.invoke(createInvocation());
      // One turn of the loop gives the connection back, as between any two callers.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(upstream.requests).to.have.length(20);
    expect(upstream.accepted()).to.be.at.most(2);
  });

  it('waits for a response for longer than a connection may take to open', async () => {
    const upstream = await keep(
      startProvider((_request, response) => {
        setTimeout(() => response.end('{}'), 4_500);
      }),
    );
    const provider = await openOn(upstream.url);
    expect(textOf(await provider.invoke(createInvocation()))).to.equal('{}');
  });

  it('keeps 20 concurrent calls apart', async () => {
    const upstream = await keep(
      startProvider((request, response) => {
        setTimeout(() => response.end(JSON.stringify(request.url)), Math.random() * 20);
      }),
    );
    const provider = await openOn(upstream.url);
    const targets = Array.from({ length: 20 }, (_, index) => `/contacts/${index}`);
    const outcomes = await Promise.all(
      targets.map((target) => provider.invoke(createInvocation({ target }))),
    );
    expect(outcomes.map(textOf)).to.deep.equal(targets.map((target) => JSON.stringify(target)));
  });

  it('handles a provider that closes idle connections', async () => {
    const upstream = await keep(startProvider(answerJson({})));
    const provider = await openOn(upstream.url);
    for (let call = 0; call < 20; call += 1) {
      expect((await provider.invoke(createInvocation())).status).to.equal(200);
      for (const socket of upstream.sockets) socket.end();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('accepts a header with the name of an object property', async () => {
    const outcome = await callRaw(
      'HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(Object.entries(outcome.headers)).to.deep.include.members([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });
});

import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { joinBody, type Outcome } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';
import {
  answerJson,
  type RunningProvider,
  startAnsweringProvider,
  startProvider,
  startRawProvider,
} from '../../support/provider.js';
import { createInvocation, failureOf, type OpenedProvider, openAdapter } from '../open-adapter.js';

describe('the http adapter: one exchange', () => {
  const running: (RunningProvider | OpenedProvider)[] = [];

  afterEach(async () => {
    for (const one of running.splice(0).reverse()) {
      await ('stop' in one ? one.stop() : one.close());
    }
  });

  const keep = async <T extends RunningProvider>(starting: Promise<T>): Promise<T> => {
    const provider = await starting;
    running.push(provider);
    return provider;
  };

  const openOn = async (url: string, config: object = {}, secrets = {}) => {
    const opened = await openAdapter(httpAdapter, { endpoints: [url], ...config }, { secrets });
    running.push(opened);
    return opened.provider;
  };

  const callRaw = async (answer: string | Buffer, others = {}): Promise<Outcome> => {
    const { url } = await keep(startAnsweringProvider(answer, (socket) => socket.end()));
    return (await openOn(url)).invoke(createInvocation({}, others));
  };

  it('sends target, headers and body unchanged', async () => {
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

  it('sends a Uint8Array that is a view of a larger buffer', async () => {
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

  it('puts the path prefix of the endpoint in front', async () => {
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
    for (const [auth, known] of calls) {
      await (await openOn(upstream.url, { auth }, known)).invoke(createInvocation());
    }
    expect(upstream.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
      'Bearer token',
      `Basic ${Buffer.from('gate:p:\u00fcss').toString('base64')}`,
      undefined,
    ]);
    expect(upstream.requests[2]?.headers['x-api-key']).to.equal('token');
  });

  it('returns the status, lower-case headers and the bytes of the body', async () => {
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

  it('rejects the body of a success that ends with the connection', async () => {
    const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\n';
    for (const framing of ['', 'Transfer-Encoding: gzip\r\n', 'Transfer-Encoding: x-chunked\r\n']) {
      const failure = await failureOf(callRaw(`${head}${framing}\r\n{"a":1}`));
      expect(failure).to.include({ failure: 'protocol', status: 200, phase: 'answered' });
    }
    expect((await callRaw(`${head}\r\n`)).body).to.equal(null);
  });

  it('reads the body of an error that ends with the connection', async () => {
    const outcome = await callRaw('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n{"a":1}');
    expect(textOf(outcome)).to.equal('{"a":1}');
  });

  for (const [title, answer, phase] of [
    ['a chunk that is cut short', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a', 'responding'],
    ['a body that is cut short', 'Content-Length: 10\r\n\r\n{"a', 'responding'],
    ['a malformed chunk', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n', 'responding'],
    ['a length over the limit', 'Content-Length: 99999999\r\n\r\n{', 'answered'],
  ] as const) {
    it(`fails in phase ${phase} for ${title}`, async () => {
      const failure = await failureOf(callRaw(`HTTP/1.1 200 OK\r\n${answer}`));
      expect(failure).to.include({ failure: 'protocol', phase });
    });
  }

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

  it('accepts 204, and 304 with the length of an absent body', async () => {
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

  it('does not use an informational status as the status of the response', async () => {
    const failure = await failureOf(callRaw('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'));
    expect([failure.failure, failure.status]).to.deep.equal(['protocol', null]);
  });

  it('accepts a body of exactly the limit and rejects one more byte', async () => {
    const upstream = await keep(
      startProvider((request, response) => {
        const bytes = Buffer.alloc(request.url === '/fits' ? 1_000 : 1_001, 'x');
        if (request.headers.accept === 'chunked') response.write(bytes.subarray(0, 500));
        else response.setHeader('content-length', bytes.length);
        response.end(request.headers.accept === 'chunked' ? bytes.subarray(500) : bytes);
      }),
    );
    const provider = await openOn(upstream.url);
    for (const accept of ['chunked', 'length']) {
      const limits = { headers: { accept }, maxResponseBytes: 1_000 };
      const fits = await provider.invoke(createInvocation({ target: '/fits' }, limits));
      expect(joinBody(fits.body)).to.have.length(1_000);
      const call = provider.invoke(createInvocation({ target: '/over' }, limits));
      const failure = await failureOf(call);
      expect(failure.failure).to.equal('protocol');
      expect(failure.status).to.equal(200);
    }
  });

  it('rejects a length over the limit without waiting for the body', async () => {
    const { url } = await keep(
      startAnsweringProvider('HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n'),
    );
    const provider = await openOn(url);
    const call = provider.invoke(createInvocation({}, { maxResponseBytes: 1_000 }));
    expect((await failureOf(call)).failure).to.equal('protocol');
  });

  it('stops reading an endless body at the limit', async () => {
    const upstream = await keep(
      startProvider((_request, response) => {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384, 'x')));
        };
        response.on('drain', more);
        more();
      }),
    );
    const call = (await openOn(upstream.url)).invoke(createInvocation());
    expect((await failureOf(call)).failure).to.equal('protocol');
  });

  const CUT_SHORT: Readonly<Record<string, string>> = {
    'after the status line': 'HTTP/1.1 200 OK\r\n',
    'within the head': 'HTTP/1.1 200 OK\r\nContent-Le',
    'within a body with a length': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"a"',
    'within a body with a length and connection: close':
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\n{"a"',
    'within a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a',
    'before the last chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
  };
  for (const [where, answer] of Object.entries(CUT_SHORT)) {
    for (const how of ['closed', 'reset'] as const) {
      it(`fails as protocol when ${how} ${where}`, async () => {
        const { url } = await keep(
          startAnsweringProvider(answer, (socket) =>
            how === 'closed' ? socket.end() : socket.resetAndDestroy(),
          ),
        );
        const failure = await failureOf((await openOn(url)).invoke(createInvocation()));
        // A reset may arrive before the bytes that were sent first: then there was no response.
        const expected = how === 'closed' ? ['protocol'] : ['protocol', 'unavailable'];
        expect(failure.failure).to.be.oneOf(expected);
      });
    }
  }

  const MALFORMED: Readonly<Record<string, string>> = {
    'a protocol other than HTTP': 'SSH-2.0-OpenSSH_9.6\r\n',
    'an unknown HTTP version': 'HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}',
    'a bad chunk size':
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
    'a chunk longer than its size':
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n',
    'content-length with chunked encoding':
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    'two different lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x',
    'a length that is not a number': 'HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n{}',
    'a status below 100': 'HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\n{}',
    'a status above 599': 'HTTP/1.1 600 Odd\r\nContent-Length: 2\r\n\r\n{}',
    'an upgrade that was not requested':
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    'a head that is too large': `HTTP/1.1 200 OK\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`,
    'a control character in a header': 'HTTP/1.1 200 OK\r\nx-a: a\u0001b\r\n\r\n',
  };
  for (const [what, answer] of Object.entries(MALFORMED)) {
    it(`fails as protocol for ${what}`, async () => {
      const { url } = await keep(startAnsweringProvider(answer));
      const failure = await failureOf((await openOn(url)).invoke(createInvocation()));
      expect(failure.failure).to.equal('protocol');
    });
  }

  it('returns a response with extra bytes behind it, and discards those bytes', async () => {
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

  it('fails as unavailable when the port has no listener', async () => {
    const upstream = await startProvider();
    await upstream.stop();
    const failure = await failureOf((await openOn(upstream.url)).invoke(createInvocation()));
    expect(failure.failure).to.equal('unavailable');
    expect(failure.message).to.include('ECONNREFUSED').and.not.include(upstream.url);
  });

  it('fails as unavailable when the name does not resolve', async () => {
    const provider = await openOn('http://nowhere.invalid');
    expect((await failureOf(provider.invoke(createInvocation()))).failure).to.equal('unavailable');
  });

  for (const how of ['end', 'resetAndDestroy'] as const) {
    it(`fails as unavailable, having sent once, on ${how} before the status line`, async () => {
      let heads = 0;
      const upstream = await keep(
        startRawProvider((socket) =>
          socket.on('data', () => {
            heads += 1;
            socket[how]();
          }),
        ),
      );
      const provider = await openOn(upstream.url);
      const body = Buffer.from('{}');
      const calls = [createInvocation(), createInvocation({ method: 'POST', body })];
      for (const call of calls) {
        expect((await failureOf(provider.invoke(call))).failure).to.equal('unavailable');
      }
      expect(heads).to.equal(2);
      expect(upstream.accepted()).to.equal(2);
    });
  }

  it('reuses a connection', async () => {
    const upstream = await keep(startProvider(answerJson({})));
    const provider = await openOn(upstream.url);
    for (let call = 0; call < 20; call += 1) {
      await provider.invoke(createInvocation());
      // A turn of the event loop returns the connection to the pool, as between two callers.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(upstream.requests).to.have.length(20);
    expect(upstream.accepted()).to.be.at.most(2);
  });

  it('does not mix up 20 concurrent calls', async () => {
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

  it('survives a provider that closes idle connections without notice', async () => {
    const upstream = await keep(startProvider(answerJson({})));
    const provider = await openOn(upstream.url);
    for (let call = 0; call < 20; call += 1) {
      expect((await provider.invoke(createInvocation())).status).to.equal(200);
      for (const socket of upstream.sockets) socket.end();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('keeps headers that are named like a property of every object', async () => {
    const outcome = await callRaw(
      'HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(Object.entries(outcome.headers)).to.deep.include.members([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });
});

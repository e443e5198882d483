import { expect } from 'chai';
import { joinBody } from '../../../core/contract/index.js';
import { failureOf } from '../../support/failure-of.js';
import { useExchange } from '../../support/provider/use-exchange.js';
import { startAnsweringProvider, startProvider, startRawProvider } from '../../support/provider.js';
import { createInvocation } from '../open-adapter.js';

describe('http adapter: one call that fails', () => {
  const { keep, openOn, callRaw } = useExchange();

  it('rejects a success without a type that ends with the connection', async () => {
    const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\n';
    for (const framing of ['', 'Transfer-Encoding: gzip\r\n', 'Transfer-Encoding: x-chunked\r\n']) {
      const failure = await failureOf(callRaw(`${head}${framing}\r\n{"a":1}`));
      expect(failure).to.include({ failure: 'protocol', status: 200, phase: 'answered' });
    }
    expect((await callRaw(`${head}\r\n`)).body).to.equal(null);
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

  it('does not use an informational status', async () => {
    const failure = await failureOf(callRaw('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'));
    expect([failure.failure, failure.status]).to.deep.equal(['protocol', null]);
  });

  it('returns a body of exactly the limit and rejects one more byte', async () => {
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
    'right after the status line': 'HTTP/1.1 200 OK\r\n',
    'within the head': 'HTTP/1.1 200 OK\r\nContent-Le',
    'within a counted body': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"a"',
    'within a counted body on a connection that closes':
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\n{"a"',
    'within a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a',
    'before the last chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
  };
  for (const [where, answer] of Object.entries(CUT_SHORT)) {
    for (const ending of ['closed', 'reset'] as const) {
      it(`fails as protocol when ${ending} ${where}`, async () => {
        const { url } = await keep(
          startAnsweringProvider(answer, (socket) =>
            ending === 'closed' ? socket.end() : socket.resetAndDestroy(),
          ),
        );
        const failure = await failureOf((await openOn(url)).invoke(createInvocation()));
        // A reset may overtake the bytes before it: then there was no answer.
        const expected = ending === 'closed' ? ['protocol'] : ['protocol', 'unavailable'];
        expect(failure.failure).to.be.oneOf(expected);
      });
    }
  }

  const MALFORMED: Readonly<Record<string, string>> = {
    'no HTTP at all': 'SSH-2.0-OpenSSH_9.6\r\n',
    'a version that there is not': 'HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}',
    'a bad chunk size':
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
    'a chunk longer than it says':
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n',
    'a compressing transfer coding':
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    'both lengths':
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    'two different lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x',
    'a length that is no number': 'HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n{}',
    'a status below 100': 'HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\n{}',
    'a status above 599': 'HTTP/1.1 600 Odd\r\nContent-Length: 2\r\n\r\n{}',
    'an unrequested upgrade':
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    'a head that is too large': `HTTP/1.1 200 OK\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`,
    'a control character in a header': 'HTTP/1.1 200 OK\r\nx-a: a\u0001b\r\n\r\n',
  };
  for (const [problem, answer] of Object.entries(MALFORMED)) {
    it(`fails as protocol for ${problem}`, async () => {
      const { url } = await keep(startAnsweringProvider(answer));
      const failure = await failureOf((await openOn(url)).invoke(createInvocation()));
      expect(failure.failure).to.equal('protocol');
    });
  }

  it('fails as unavailable when the port is closed', async () => {
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

  for (const ending of ['end', 'resetAndDestroy'] as const) {
    it(`fails as unavailable, having sent once, on ${ending} before the status line`, async () => {
      let heads = 0;
      const upstream = await keep(
        startRawProvider((socket) =>
          socket.on('data', () => {
            heads += 1;
            socket[ending]();
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
});

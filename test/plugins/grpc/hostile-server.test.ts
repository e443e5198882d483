import { readFileSync } from 'node:fs';
import {
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Provider } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { grpcAdapter } from '../../../plugins/grpc/grpc-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import { createInvocation, eventually, openAdapter } from '../open-adapter.js';
import {
  answer,
  type Behave,
  FAILURES,
  frame,
  HEAD,
  INFLATES,
  OK,
  SEVEN,
} from './hostile-answers.js';
import { LIBRARY_SET } from './library-server.js';

const OPTIONS = { method: 'library.v1.Echo/Echo' };
const STREAM = { method: 'library.v1.Echo/Many' };
describe('hostile gRPC servers', () => {
  let behave: Behave = () => {};
  let server: Http2Server;
  let provider: Provider;
  let close: () => Promise<void>;
  let calls = 0;
  let openStreams = 0;
  const sessions = new Set<ServerHttp2Session>();

  const open = async (port: number, others: object = {}) => {
    const set = readFileSync(LIBRARY_SET);
    const config = {
      endpoints: [`grpc://127.0.0.1:${port}`],
      descriptors: { file: 'set' },
      ...others,
    };
    const opened = await openAdapter(grpcAdapter, config, { files: { set } });
    const declared = { method: 'POST', path: '/echo' } as never;
    opened.provider.useRoutes?.([
      { declared, options: OPTIONS },
      { declared, options: STREAM },
    ]);
    return opened;
  };

  beforeEach(async () => {
    calls = 0;
    server = createServer({ maxSessionMemory: 1_000, maxSendHeaderBlockLength: 1_000_000 });
    server.on('session', (session) => {
      sessions.add(session);
      session.on('error', () => {});
      session.on('close', () => sessions.delete(session));
    });
    server.on('stream', (stream) => {
      calls += 1;
      openStreams += 1;
      stream.on('close', () => {
        openStreams -= 1;
      });
      stream.on('error', () => {});
      stream.resume();
      behave(stream, stream.session as ServerHttp2Session);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const opened = await open((server.address() as AddressInfo).port);
    provider = opened.provider;
    close = opened.close;
  });

  afterEach(async () => {
    await close();
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const call = (others: object = {}, options: object = OPTIONS) =>
    provider.invoke(
      createInvocation(
        {
          method: 'POST',
          declaredPath: '/echo',
          target: '/echo',
          body: Buffer.from('{}'),
          options,
        },
        { signal: AbortSignal.timeout(3_000), maxResponseBytes: 10_000, ...others },
      ),
    );

  const works = async () => {
    behave = (stream) => answer(stream, SEVEN);
    expect(textOf(await call())).to.equal('{"anInt32":7}');
  };

  for (const [title, [behavior, failure]] of Object.entries(FAILURES)) {
    it(`fails as ${failure} for ${title}, and serves the next call`, async () => {
      behave = behavior;
      const signal = AbortSignal.timeout(failure === 'timeout' ? 200 : 60_000);
      const limit = { signal, maxResponseBytes: 4_194_304 };
      const large = title.startsWith('m') ? limit : { signal };
      const error = await failureOf(call(large));
      expect(error.failure).to.equal(failure);
      if (title === 'millions of values') expect(error.message).to.include('100000 values');
      if (title.includes('Any')) expect(error.message).to.include('an Any of no.Such');
      await eventually(() => openStreams === 0);
      await works();
    });
  }

  it('says when to call a proxy without a server again', async () => {
    for (const [given, expected] of [
      ['3', 3000],
      ['0', 1000],
      ['soon', null],
    ] as const) {
      const head = { ':status': 503, 'retry-after': given };
      behave = (stream) => answer(stream, Buffer.from('no'), {}, head);
      const { failure, retryAfterMs } = await failureOf(call());
      expect([failure, retryAfterMs]).to.deep.equal(['unavailable', expected]);
    }
  });

  it('answers a 429 of a proxy as RESOURCE_EXHAUSTED, with its retry-after', async () => {
    const head = { ':status': 429, 'retry-after': '3' };
    behave = (stream) => answer(stream, Buffer.from('no'), {}, head);
    const { status, headers } = await call();
    expect([status, headers['retry-after']]).to.deep.equal([429, '3']);
  });

  it('says when to call again after a stream of which nothing was passed on', async () => {
    const trailers = { 'grpc-status': '14', 'grpc-retry-pushback-ms': '2500' };
    behave = (stream) => answer(stream, SEVEN, trailers);
    const { failure, retryAfterMs } = await failureOf(call({}, STREAM));
    expect([failure, retryAfterMs]).to.deep.equal(['unavailable', 2500]);
  });

  it('has no time to call again for any other status of a proxy', async () => {
    const head = { ':status': 500, 'retry-after': '3' };
    behave = (stream) => answer(stream, Buffer.from('no'), {}, head);
    const { failure, retryAfterMs } = await failureOf(call());
    expect([failure, retryAfterMs]).to.deep.equal(['status', null]);
  });

  describe('with compressed messages in a stream of events', () => {
    const read = async (message: Buffer, encoding = 'gzip') => {
      const head = { ...HEAD, 'grpc-encoding': encoding };
      behave = (stream) => answer(stream, Buffer.concat([SEVEN, frame(message, 1)]), OK, head);
      const limits = { holdBytes: 0, maxResponseBytes: Number.MAX_SAFE_INTEGER };
      const signal = AbortSignal.timeout(30_000);
      const { body } = await call({ ...limits, signal }, STREAM);
      const parts: Uint8Array[] = [];
      for await (const part of body as AsyncIterable<Uint8Array>) parts.push(part);
      return Buffer.concat(parts).toString();
    };

    it('reads them', async () => {
      const eight = Buffer.from([0x18, 8]);
      const lines = '{"anInt32":7}\n{"anInt32":8}\n';
      expect(await read(gzipSync(eight))).to.equal(lines);
      expect(await read(deflateSync(eight), 'deflate')).to.equal(lines);
    });

    it('fails for one that inflates to more than 16 MiB', async () => {
      const { failure, message } = await failureOf(read(INFLATES));
      expect(failure).to.equal('protocol');
      expect(message).to.include('over 16777216 bytes');
    });
  });

  it('says that a refused stream was not processed', async () => {
    behave = (stream) => stream.close(7);
    expect((await failureOf(call())).phase).to.equal('connecting');
  });

  it('sends a call again that is above the last stream of a GOAWAY', async () => {
    behave = (stream, session) => {
      if (calls === 2) session.goaway(0, 1);
      if (calls === 3) answer(stream, SEVEN);
    };
    const leaving = new AbortController();
    const first = failureOf(call({ signal: leaving.signal }));
    await eventually(() => calls === 1);
    expect(textOf(await call({ signal: AbortSignal.timeout(30_000) }))).to.equal('{"anInt32":7}');
    expect(calls).to.equal(3);
    leaving.abort();
    await first;
  });

  it('says that a call was not processed when each of two connections leaves it out', async () => {
    behave = (stream, session) => {
      if (stream.id !== 1) session.goaway(0, 1);
      else if (calls > 1) answer(stream, SEVEN);
    };
    const leaving = new AbortController();
    const first = failureOf(call({ signal: leaving.signal }));
    await eventually(() => calls === 1);
    const signal = AbortSignal.timeout(30_000);
    const settled = await Promise.allSettled([call({ signal }), call({ signal })]);
    const rejected = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(rejected.map(({ failure, phase }) => [failure, phase])).to.deep.equal([
      ['unavailable', 'connecting'],
    ]);
    await works();
    leaving.abort();
    await first;
  });

  it('cancels a stream whose bytes are above the limit', async () => {
    let isClosed = false;
    behave = (stream) => {
      stream.on('close', () => {
        isClosed = true;
      });
      stream.respond(HEAD);
      const write = () => {
        while (!stream.destroyed && stream.write(SEVEN));
      };
      stream.on('drain', write);
      write();
    };
    const { body } = await call({ holdBytes: 0 }, STREAM);
    const failure = await failureOf(
      (async () => {
        for await (const part of body as AsyncIterable<Uint8Array>) void part;
      })(),
    );
    expect(failure.failure).to.equal('protocol');
    await eventually(() => isClosed);
  });

  it('fails before a stream is open for a head that is not one of gRPC', async () => {
    behave = (stream) => answer(stream, Buffer.from('no'), {}, { ':status': 404 });
    const error = await failureOf(call({ holdBytes: 0 }, STREAM));
    expect([error.failure, error.status]).to.deep.equal(['status', 404]);
    for (const status of [401, 429]) {
      const head = { ':status': status, 'retry-after': '3' };
      behave = (stream) => answer(stream, Buffer.from('no'), {}, head);
      expect((await call({ holdBytes: 0 }, STREAM)).status).to.equal(status);
    }
    behave = (stream) => stream.close(7);
    expect((await failureOf(call({ holdBytes: 0 }, STREAM))).phase).to.equal('connecting');
  });

  it('opens further connections where a server allows one stream', async () => {
    await close();
    const single = createServer({ settings: { maxConcurrentStreams: 1 } });
    const held: ServerHttp2Stream[] = [];
    let opened = 0;
    single.on('session', (session) => {
      opened += 1;
      session.on('error', () => {});
    });
    single.on('stream', (stream) => {
      stream.on('error', () => {});
      stream.resume();
      held.push(stream);
    });
    await new Promise<void>((resolve) => single.listen(0, '127.0.0.1', resolve));
    const other = await open((single.address() as AddressInfo).port);
    provider = other.provider;
    close = other.close;
    const all = Array.from({ length: 16 }, () => call());
    await eventually(() => held.length === 16);
    expect(opened).to.equal(16);
    expect((await failureOf(call())).failure).to.equal('overloaded');
    for (const stream of held.splice(0)) answer(stream, SEVEN);
    const texts = (await Promise.all(all)).map(textOf);
    expect(new Set(texts)).to.deep.equal(new Set(['{"anInt32":7}']));
    await close();
    single.close();
    provider = (await open(1)).provider;
  });

  it('counts a health check as answered while its stream stays open', async () => {
    const { port } = server.address() as AddressInfo;
    const checked = await open(port, { health: { service: '', timeout_ms: 5_000 } });
    const check = () => checked.provider.check(new AbortController().signal);
    const send = (status: number) => {
      behave = (stream) => {
        stream.respond(HEAD as never);
        stream.write(frame(Buffer.from([0x08, status])));
      };
    };
    send(1);
    await check();
    await eventually(() => openStreams === 0);
    send(2);
    expect((await failureOf(check())).failure).to.equal('unavailable');
    await checked.close();
  });

  it('does not wait long for a peer that does not speak HTTP/2', async () => {
    const sockets: Socket[] = [];
    const silent: Server = createTcpServer((socket) => {
      socket.on('error', () => {});
      sockets.push(socket);
      socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const other = await open((silent.address() as AddressInfo).port);
    const before = provider;
    provider = other.provider;
    const failure = await failureOf(call());
    expect(failure.phase).to.equal('connecting');
    expect(['unavailable', 'protocol']).to.include(failure.failure);
    provider = before;
    await other.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

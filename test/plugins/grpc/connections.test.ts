import { readFileSync } from 'node:fs';
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { Provider } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { grpcAdapter } from '../../../plugins/grpc/grpc-adapter.js';
import { createInvocation, eventually, openAdapter } from '../open-adapter.js';
import { LIBRARY_SET } from './library-server.js';

const OPTIONS = { method: 'library.v1.Echo/Echo' };
const HEAD = { ':status': 200, 'content-type': 'application/grpc' };
const MINUTES = 60_000;
const TOO_MANY = constants.NGHTTP2_ENHANCE_YOUR_CALM;
/** A message with an_int32 of 7. */
const SEVEN = Buffer.from([0, 0, 0, 0, 2, 0x18, 7]);

describe('connections of kind grpc', () => {
  const { now } = performance;
  const sessions: ServerHttp2Session[] = [];
  const held: ServerHttp2Stream[] = [];
  let isHolding = false;
  /** Called with a stream instead of an answer. */
  let onStream: ((stream: ServerHttp2Stream) => void) | null = null;
  let hasTooMany = false;
  let pings = 0;
  let server: Http2Server;
  let provider: Provider;
  let close: () => Promise<void>;

  beforeEach(async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    pings = 0;
    isHolding = false;
    onStream = null;
    server = createServer();
    server.on('session', (session) => {
      sessions.push(session);
      session.on('ping', () => {
        pings += 1;
      });
      session.on('error', () => {});
    });
    server.on('stream', (stream) => {
      stream.on('error', () => {});
      stream.resume();
      if (hasTooMany) stream.session?.goaway(TOO_MANY, stream.id, Buffer.from('too_many_pings'));
      if (onStream !== null) onStream(stream);
      else if (isHolding) held.push(stream);
      else answer(stream);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const config = { endpoints: [`grpc://127.0.0.1:${port}`], descriptors: { file: 'set' } };
    const set = readFileSync(LIBRARY_SET);
    ({ provider, close } = await openAdapter(grpcAdapter, config, { files: { set } }));
    const declared = { method: 'POST', path: '/echo' } as never;
    provider.useRoutes?.([{ declared, options: OPTIONS }]);
  });

  afterEach(async () => {
    performance.now = now;
    mock.timers.reset();
    await close();
    for (const session of sessions.splice(0)) session.destroy();
    held.length = 0;
    await new Promise((resolve) => server.close(resolve));
  });

  const answer = (stream: ServerHttp2Stream) => {
    stream.respond(HEAD, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(SEVEN);
  };

  const call = async (signal?: AbortSignal) => {
    const body = Buffer.from('{}');
    const operation = { method: 'POST' as const, declaredPath: '/echo', target: '/echo', body };
    const invocation = createInvocation({
      ...operation,
      options: OPTIONS,
      ...(signal && { signal }),
    });
    return textOf(await provider.invoke(invocation));
  };

  /** A call that the server has and does not answer. */
  const begin = async () => {
    isHolding = true;
    const before = held.length;
    const response = call();
    await eventually(() => held.length > before);
    isHolding = false;
    return response;
  };

  let later = 0;
  const pass = (ms: number) => {
    later = ms;
    performance.now = () => now.call(performance) + later;
    mock.timers.tick(ms);
  };

  it('are used by calls of five minutes, and then by those in flight alone', async () => {
    await call();
    pass(4 * MINUTES);
    await call();
    expect(sessions).to.have.length(1);
    isHolding = true;
    const first = call();
    await eventually(() => held.length === 1);
    isHolding = false;
    pass(6 * MINUTES);
    expect(await call()).to.equal('{"anInt32":7}');
    expect(sessions).to.have.length(2);
    expect(sessions[0]?.closed).to.equal(false);
    answer(held[0] as ServerHttp2Stream);
    expect(await first).to.equal('{"anInt32":7}');
    await eventually(() => sessions[0]?.destroyed === true);
  });

  it('are kept when callers leave while responses are on their way', async () => {
    await call();
    for (let calls = 0; calls < 120; calls += 1) {
      const left = new AbortController();
      onStream = (stream) => {
        left.abort();
        stream.respond(HEAD);
        stream.end(Buffer.alloc(60_000));
      };
      await call(left.signal).catch(() => {});
    }
    onStream = null;
    await call();
    pass(500);
    await call();
    expect(sessions).to.have.length(1);
  });

  it('are not pinged while no call is open', async () => {
    await call();
    pass(6 * MINUTES);
    await call();
    expect(pings).to.equal(0);
  });

  it('are pinged while a call is open and nothing arrives for five minutes', async () => {
    void begin().catch(() => {});
    await eventually(() => held.length === 1);
    pass(4 * MINUTES);
    expect(pings).to.equal(0);
    pass(6 * MINUTES);
    await eventually(() => pings === 1);
  });

  it('are pinged half as often once a server has said that there are too many', async () => {
    hasTooMany = true;
    await call().catch(() => {});
    hasTooMany = false;
    void begin().catch(() => {});
    await eventually(() => held.length === 1);
    pass(9 * MINUTES);
    // Its frames arrive after a ping that was sent before.
    answer(held[0] as ServerHttp2Stream);
    await eventually(() => held[0]?.destroyed === true);
    expect(pings).to.equal(0);
    void begin().catch(() => {});
    await eventually(() => held.length === 2);
    pass(20 * MINUTES);
    await eventually(() => pings === 1);
  });
});

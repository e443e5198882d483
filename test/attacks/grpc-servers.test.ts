import {
  type ClientHttp2Session,
  connect,
  createServer as createHttp2Server,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { createCaller, describeLibrary } from '../plugins/grpc/library-module.js';
import { type RunningHost, startHost } from '../support/start-host.js';

const ROUTES = [{ method: 'POST', path: '/echo', operation: { grpc: 'library.v1.Echo/Echo' } }];
const HEAD = { ':status': 200, 'content-type': 'application/grpc' };
const [DATA, HEADERS, PRIORITY, RESET, SETTINGS, PING] = [0, 1, 2, 3, 4, 6];
const [WINDOW, CONTINUATION, ALTERNATIVE, UNKNOWN] = [8, 9, 10, 250];
const [END_HEADERS, PADDED] = [4, 8];
/** What a server sends unless the host closes its connection. */
const FLOOD_BYTES = 1_073_741_824;
/** What a weakened host reads, as a sign that it would read on. */
const READ_ON_BYTES = FLOOD_BYTES / 4;
const PART_BYTES = 65_536;
/** A message that is longer than any response may be. */
const MESSAGE_BYTES = 64 * 1_048_576;

function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** `:status: 200`, of the static table. */
const OPENING = frame(HEADERS, END_HEADERS, 1, Buffer.from([0x88]));

/** What a server sends again and again, after a first frame. */
const FLOODS: Readonly<Record<string, readonly [first: Buffer, again: Buffer]>> = {
  settings: [OPENING, frame(SETTINGS, 0, 0)],
  pings: [OPENING, frame(PING, 0, 0, Buffer.alloc(8))],
  'resets of one stream': [OPENING, frame(RESET, 0, 1, Buffer.from([0, 0, 0, 8]))],
  'small windows': [OPENING, frame(WINDOW, 0, 1, Buffer.from([0, 0, 0, 1]))],
  priorities: [OPENING, frame(PRIORITY, 0, 1, Buffer.from([0, 0, 0, 0, 1]))],
  'other addresses': [OPENING, frame(ALTERNATIVE, 0, 0, Buffer.from('\0\u0001ah2=":1"'))],
  'frames of an unknown type': [OPENING, frame(UNKNOWN, 0, 0, Buffer.alloc(16))],
  'empty data': [OPENING, frame(DATA, 0, 1)],
  'data that is padding': [
    OPENING,
    frame(DATA, PADDED, 1, Buffer.alloc(256, Buffer.of(255, ...Buffer.alloc(255)))),
  ],
  'headers that go on': [
    frame(HEADERS, 0, 1, Buffer.from([0x88])),
    frame(CONTINUATION, 0, 1, Buffer.from([0, 1, 0x61, 1, 0x62])),
  ],
};

const PREFACE_BYTES = 24;

/** Resolves with the first call of a connection. */
function waitForCall(socket: Socket): Promise<void> {
  let received = Buffer.alloc(0);
  let at = PREFACE_BYTES;
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      if (at === -1) return;
      received = Buffer.concat([received, chunk]);
      for (; at !== -1 && received.length >= at + 9; at += 9 + received.readUIntBE(at, 3)) {
        if (received[at + 3] !== HEADERS) continue;
        at = -1;
        resolve();
        return;
      }
    });
  });
}

/** Sends one call; rejects for a failure. */
type Client = (port: number) => Promise<void>;

const naive: ClientHttp2Session[] = [];

/** The weakened host: the library alone, which takes what comes and keeps its connection. */
const callNaively: Client = (port) =>
  new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`);
    naive.push(session);
    session.on('error', reject);
    session.on('close', resolve);
    const stream = session.request({ ':method': 'POST', ':path': '/library.v1.Echo/Echo' });
    let status: unknown;
    stream.on('response', (headers) => {
      status = headers['grpc-status'];
    });
    stream.on('trailers', (trailers) => {
      status ??= trailers['grpc-status'];
    });
    stream.on('error', reject);
    stream.on('end', () => {
      if (status === '0') resolve();
      else reject(new Error(`status ${String(status)}`));
    });
    stream.resume();
    stream.end(Buffer.alloc(5));
  });

describe('attack: a gRPC server that floods its clients', () => {
  const hosts: RunningHost[] = [];

  afterEach(async () => {
    for (const session of naive.splice(0)) session.destroy();
    for (const host of hosts.splice(0)) await host.stop();
  });

  const callByHost: Client = async (port) => {
    const others = { limits: { timeout_ms: 30_000 } };
    const host = await startHost({
      files: describeLibrary(ROUTES, `grpc://127.0.0.1:${port}`, others),
    });
    hosts.push(host);
    const { status, text } = await createCaller(host.url)('/echo', { method: 'POST', body: '{}' });
    if (status !== 200) throw new Error(text);
  };

  /** @returns whether the client closes the connection */
  const flood = async (
    call: Client,
    [first, again]: readonly [Buffer, Buffer],
    bytes = FLOOD_BYTES,
  ) => {
    const part = Buffer.concat(Array<Buffer>(Math.ceil(PART_BYTES / again.length)).fill(again));
    const sockets: Socket[] = [];
    const server: Server = createServer((socket) => void send(socket));
    let resolve = (_isClosed: boolean) => {};
    const promise = new Promise<boolean>((settle) => {
      resolve = settle;
    });
    const send = async (socket: Socket) => {
      sockets.push(socket);
      let wake = () => {};
      let isOpen = true;
      socket.on('error', () => {});
      socket.on('drain', () => wake());
      socket.on('close', () => {
        isOpen = false;
        wake();
      });
      socket.write(frame(SETTINGS, 0, 0));
      // The preface, the settings, and then the call.
      await waitForCall(socket);
      socket.write(first);
      let sent = 0;
      while (isOpen && sent < bytes) {
        sent += part.length;
        if (!socket.write(part)) {
          await new Promise<void>((done) => {
            wake = done;
          });
        }
      }
      resolve(!isOpen);
    };
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const calling = call((server.address() as AddressInfo).port).catch(() => {});
    const isClosed = await promise;
    for (const socket of sockets) socket.destroy();
    await calling;
    await new Promise((closed) => server.close(closed));
    return isClosed;
  };

  for (const [title, parts] of Object.entries(FLOODS)) {
    it(`is disconnected for ${title}`, async () => {
      expect(await flood(callByHost, parts)).to.equal(true);
    });
  }

  it('is read on by a weakened host', async () => {
    for (const title of ['frames of an unknown type', 'data that is padding']) {
      const isClosed = await flood(callNaively, FLOODS[title] as never, READ_ON_BYTES);
      expect(isClosed, title).to.equal(false);
    }
  });

  /** Serves calls by frames that the library writes. */
  const serve = async (behave: (stream: ServerHttp2Stream) => void, call: Client) => {
    const server = createHttp2Server();
    server.on('session', (session) => session.on('error', () => {}));
    server.on('stream', (stream) => {
      stream.on('error', () => {});
      stream.resume();
      behave(stream);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const outcome = await call((server.address() as AddressInfo).port).then(
      () => 'answered',
      () => 'failed',
    );
    for (const session of naive.splice(0)) session.destroy();
    server.close();
    return outcome;
  };

  it('does not get an endless message through, unlike to a weakened host', async () => {
    let sent = 0;
    const behave = (stream: ServerHttp2Stream) => {
      sent = 0;
      stream.respond(HEAD, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      const part = Buffer.alloc(PART_BYTES);
      const write = () => {
        while (!stream.destroyed && sent < MESSAGE_BYTES) {
          sent += part.length;
          if (!stream.write(part)) return;
        }
        stream.end();
      };
      stream.on('drain', write);
      stream.write(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]));
      write();
    };
    expect(await serve(behave, callByHost)).to.equal('failed');
    expect(sent).to.be.lessThan(MESSAGE_BYTES);
    expect(await serve(behave, callNaively)).to.equal('answered');
    expect(sent).to.equal(MESSAGE_BYTES);
  });

  it('does not succeed by a status before its messages, unlike at a weakened host', async () => {
    const behave = (stream: ServerHttp2Stream) => {
      stream.respond({ ...HEAD, 'grpc-status': '0' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '13' }));
      stream.end(Buffer.alloc(5));
    };
    expect(await serve(behave, callByHost)).to.equal('failed');
    expect(await serve(behave, callNaively)).to.equal('answered');
  });
});

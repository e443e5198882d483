import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const TIMEOUT_MS = 2000;
/** Far more than the system holds for a connection. Bytes. */
const LARGE = 24 * 1_048_576;
const REQUEST = [
  'GET /modules/wide/http/a HTTP/1.1',
  'host: 127.0.0.1',
  'authorization: Bearer dev-system:root',
  '\r\n',
].join('\r\n');

describe('an answer that the caller does not take', () => {
  const setup = useHost(
    (provider) => ({
      'wide.json': describeWideModule('wide', provider.url, {
        limits: { response_bytes: 2 * LARGE, timeout_ms: 30_000 },
      }),
    }),
    { args: ['--answer-timeout-ms', String(TIMEOUT_MS)] },
  );
  const opened: Socket[] = [];
  afterEach(() => {
    for (const socket of opened.splice(0)) socket.destroy();
  });

  /** Sends a request; nothing is read of the answer yet. */
  const ask = async (): Promise<Socket> => {
    const socket = connect(setup.host.port, '127.0.0.1');
    opened.push(socket);
    // A reset is how the end comes to who has not read everything.
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write(REQUEST);
    return socket;
  };
  const answerLarge = () => setup.provider.answer({ body: JSON.stringify('a'.repeat(LARGE)) });

  it('is given up after --answer-timeout-ms, with its connection', async () => {
    answerLarge();
    const socket = await ask();
    await sleep(3 * TIMEOUT_MS);
    expect(await readAll(socket)).to.be.below(LARGE);
  });

  it('is not given up as long as something of it is taken', async () => {
    answerLarge();
    const socket = await ask();
    const begun = Date.now();
    const received = await readSlowly(socket, LARGE);
    expect(Date.now() - begun).to.be.above(2 * TIMEOUT_MS);
    expect(received).to.be.above(LARGE);
  });

  it('leaves no limit behind for a request that waits behind it', async () => {
    answerLarge();
    const socket = await ask();
    socket.write(REQUEST.replace('host', 'connection: close\r\nhost'));
    await waitUntil('the first call', () => setup.provider.requests.length === 1);
    setup.provider.answer({ delayMs: 3 * TIMEOUT_MS });
    // So long that the answer does not leave at once.
    await sleep(500);
    await readSlowly(socket, LARGE);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
    });
    await readAll(socket);
    expect(text).to.match(/HTTP\/1\.1 200 /);
  });
});

/** Bytes until the connection ends, one way or the other. */
async function readAll(socket: Socket): Promise<number> {
  let received = 0;
  socket.on('data', (bytes) => {
    received += bytes.length;
  });
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
  return received;
}

/** Reads with pauses until there are more than `size` bytes or the connection has ended. */
async function readSlowly(socket: Socket, size: number): Promise<number> {
  const atOnce = size / 24;
  let received = 0;
  let allowed = 0;
  const take = (bytes: Buffer) => {
    received += bytes.length;
    if (received > allowed) socket.pause();
  };
  socket.on('data', take);
  while (received <= size && !socket.closed) {
    allowed = received + atOnce;
    socket.resume();
    await sleep(TIMEOUT_MS / 10);
  }
  socket.pause().off('data', take);
  return received;
}

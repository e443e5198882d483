import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { scrape } from '../../support/observability/exposition.js';

const TIMEOUT_MS = 2000;
/** Far more than the socket buffers hold. Bytes. */
const LARGE = 24 * 1_048_576;
const REQUEST = [
  'GET /modules/wide/http/a HTTP/1.1',
  'host: 127.0.0.1',
  'authorization: Bearer dev-system:root',
  '\r\n',
].join('\r\n');

describe('send timeout', () => {
  const setup = useHost(
    (provider) => ({
      'wide.json': describeWideModule('wide', provider.url, {
        limits: { response_bytes: 2 * LARGE, hold_bytes: 2 * LARGE, timeout_ms: 30_000 },
      }),
    }),
    { args: ['--send-timeout-ms', String(TIMEOUT_MS)] },
  );
  const opened: Socket[] = [];
  afterEach(() => {
    for (const socket of opened.splice(0)) socket.destroy();
  });

  /** Sends a request and does not read the response yet. */
  const ask = async (): Promise<Socket> => {
    const socket = connect(setup.host.port, '127.0.0.1');
    opened.push(socket);
    // A client that has not read everything sees a reset.
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write(REQUEST);
    return socket;
  };
  const answerLarge = () => setup.provider.answer({ body: JSON.stringify('a'.repeat(LARGE)) });

  it('closes the connection after --send-timeout-ms', async () => {
    answerLarge();
    const socket = await ask();
    const heldBytes = async () => (await scrape(setup.host)).sum('modgate_held_bytes');
    await waitUntil('a response that is held', async () => (await heldBytes()) > 0);
    await waitUntil('the end of the connection', async () => (await heldBytes()) === 0);
    expect(await readAll(socket)).to.be.below(LARGE);
  });

  it('keeps the connection while the client reads slowly', async () => {
    answerLarge();
    const socket = await ask();
    const begun = Date.now();
    const received = await read(socket, LARGE, TIMEOUT_MS / 10);
    expect(Date.now() - begun).to.be.above(2 * TIMEOUT_MS);
    expect(received).to.be.above(LARGE);
  });

  it('does not apply to the next request of the connection', async () => {
    answerLarge();
    const socket = await ask();
    socket.write(REQUEST.replace('host', 'connection: close\r\nhost'));
    await waitUntil('the first call', () => setup.provider.requests.length === 1);
    setup.provider.answer({ delayMs: 1.5 * TIMEOUT_MS });
    // The response is too large to be sent in one write.
    await sleep(500);
    await read(socket, LARGE);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
    });
    await readAll(socket);
    expect(text).to.match(/HTTP\/1\.1 200 /);
  });
});

/** Counts bytes until the connection ends. */
async function readAll(socket: Socket): Promise<number> {
  let received = 0;
  socket.on('data', (bytes) => {
    received += bytes.length;
  });
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
  return received;
}

/** Reads, with pauses, until there are more than `size` bytes or the connection has ended. */
async function read(socket: Socket, size: number, pauseMs = 0): Promise<number> {
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
    await sleep(pauseMs);
  }
  socket.pause().off('data', take);
  return received;
}

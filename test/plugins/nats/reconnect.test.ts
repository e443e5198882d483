import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { natsAdapter } from '../../../plugins/nats/nats-adapter.js';
import { eventually, openAdapter } from '../open-adapter.js';

const INFO = { server_id: 'unstable', version: '2.10.0', max_payload: 1_048_576, headers: true };
const ATTEMPTS = 6;
/** The least pause before the last of them: 1.6 s less the jitter. */
const LEAST_MS = 1_600 * 0.7;

describe('a NATS server that accepts each connection and drops it', () => {
  const acceptedAt: number[] = [];
  const server = createServer((socket) => {
    acceptedAt.push(performance.now());
    socket.on('error', () => {});
    socket.write(`INFO ${JSON.stringify(INFO)}\r\n`);
    socket.once('data', () => socket.end('PONG\r\n'));
  });

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  after(() => server.close());

  it('is connected to with growing pauses', async () => {
    const { port } = server.address() as AddressInfo;
    const config = { servers: [`nats://127.0.0.1:${port}`], subject: 'x' };
    const running = await openAdapter(natsAdapter, config);
    try {
      await eventually(() => acceptedAt.length >= ATTEMPTS);
    } finally {
      await running.close();
    }
    expect(running.log.map(({ message }) => message)).to.include('connected to NATS');
    const [before = 0, last = 0] = acceptedAt.slice(ATTEMPTS - 2, ATTEMPTS);
    expect(last - before).to.be.at.least(LEAST_MS);
  });
});

import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { waitUntil } from '../support/http/wait-until.js';
import { scrape } from '../support/observability/exposition.js';
import { type RunningHost, startHost } from '../support/start-host.js';

const TRICKLE_MS = 500;

describe('anonymous clients whose framing of a chunk trickles', () => {
  let host: RunningHost;
  let socket: Socket | undefined;

  after(async () => {
    socket?.destroy();
    await host?.stop();
  });

  it('lose their connection', async () => {
    host = await startHost();
    socket = connect(host.port, '127.0.0.1');
    const fields = 'host: 127.0.0.1\r\nsec-fetch-site: same-origin\r\n';
    socket.write(`POST /console/api/session HTTP/1.1\r\n${fields}`);
    socket.write('content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
    socket.write('5\r\n{"tok\r\n1;');
    const timer = setInterval(() => socket?.write('a'), TRICKLE_MS);
    let received = '';
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
    });
    socket.on('error', () => {});
    try {
      await waitUntil('the response', () => received !== '', 25_000);
      expect(received).to.match(/^HTTP\/1\.1 408 /);
    } finally {
      clearInterval(timer);
      socket.destroy();
    }
    await waitUntil('the release of everything', async () => {
      return (await scrape(host)).sum('modgate_held_bytes') === 0;
    });
  });
});

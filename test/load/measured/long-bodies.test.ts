import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { ROOT } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { scrape } from '../../support/observability/exposition.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';

const MIB = 1_048_576;
const MAX_GROWTH_BYTES = 80 * MIB;
const ROW = Buffer.from(`{"id":1,"name":"a row of a table"},`);
const PART = Buffer.from(ROW.toString().repeat(Math.floor(65_536 / ROW.length)));
const ANSWER_BYTES = 64 * MIB;
const UPLOAD_BYTES = 16 * MIB;

const LIMITS = {
  response_bytes: 128 * MIB,
  request_bytes: 32 * MIB,
  hold_request_bytes: 262_144,
  concurrency: 1024,
};
const ROUTES = [
  { method: 'GET', path: '/rows', capability: 'rows.read' },
  { method: 'POST', path: '/rows', capability: 'rows.write' },
];

/** A JSON array of about `bytes`. */
function* writeRows(bytes: number): Generator<Buffer> {
  yield Buffer.from('[');
  for (let sent = 0; sent < bytes; sent += PART.length) yield PART;
  yield Buffer.from('0]');
}

describe('memory of long bodies', () => {
  let provider: Server;
  let host: HostProcess;
  let received = 0;

  before(async () => {
    provider = createServer(async (request, response) => {
      for await (const part of request) received += part.length;
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const part of request.method === 'GET' ? writeRows(ANSWER_BYTES) : ['{}']) {
        if (!response.write(part)) await once(response, 'drain').catch(() => {});
      }
      response.end();
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const { port } = provider.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    host = await startHostProcess({
      args: ['--log-success-sample', '0', '--shed-delay-ms', '60000'],
      files: { 'rows.json': describeModule('rows', url, ROUTES, { limits: LIMITS }) },
    });
  });

  after(async () => {
    await host?.stop();
    provider?.closeAllConnections();
    provider?.close();
  });

  const measure = async (): Promise<number> =>
    (await scrape(host)).sum('process_resident_memory_bytes');

  /** @returns how much the resident memory grew at most while `work` ran. Bytes. */
  const growthOf = async (work: Promise<unknown>, idle: number): Promise<number> => {
    let isDone = false;
    const ended = work.finally(() => {
      isDone = true;
    });
    let highest = idle;
    while (!isDone) {
      highest = Math.max(highest, await measure());
      await Promise.race([
        ended.catch(() => {}),
        new Promise((resolve) => setTimeout(resolve, 50)),
      ]);
    }
    await ended;
    return highest - idle;
  };

  const get = () =>
    fetch(`${host.url}/modules/rows/http/rows`, { headers: { authorization: `Bearer ${ROOT}` } });

  it('is at most 80 MiB for 16 answers of 64 MiB at once', async () => {
    await (await get()).arrayBuffer();
    const idle = await measure();
    const read = async (): Promise<void> => {
      const response = await get();
      let bytes = 0;
      for await (const part of response.body ?? []) bytes += part.length;
      expect(bytes).to.be.above(ANSWER_BYTES);
    };
    const growth = await growthOf(Promise.all(Array.from({ length: 16 }, read)), idle);
    console.log(`      16 answers of 64 MiB: ${(growth / MIB).toFixed(1)} MiB above idle`);
    expect(growth).to.be.below(MAX_GROWTH_BYTES);
  });

  it('is at most 80 MiB for 64 uploads of 16 MiB at once', async () => {
    const idle = await measure();
    received = 0;
    const send = async (): Promise<void> => {
      const socket = connect(host.port, '127.0.0.1');
      let text = '';
      socket.on('data', (part) => {
        text += String(part);
      });
      socket.on('error', () => {});
      const isClosed = new Promise((resolve) => socket.once('close', resolve));
      await once(socket, 'connect');
      socket.write(
        `POST /modules/rows/http/rows HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${ROOT}\r\nconnection: close\r\n`,
      );
      socket.write('content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
      for (const part of writeRows(UPLOAD_BYTES)) {
        const chunk = Buffer.concat([
          Buffer.from(`${part.length.toString(16)}\r\n`),
          part,
          Buffer.from('\r\n'),
        ]);
        if (socket.destroyed || text !== '') break;
        if (!socket.write(chunk))
          await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), isClosed]);
      }
      socket.write('0\r\n\r\n');
      await isClosed;
      expect(text).to.match(/^HTTP\/1\.1 200 /);
    };
    const growth = await growthOf(Promise.all(Array.from({ length: 64 }, send)), idle);
    console.log(`      64 uploads of 16 MiB: ${(growth / MIB).toFixed(1)} MiB above idle`);
    expect(received).to.be.above(64 * UPLOAD_BYTES);
    expect(growth).to.be.below(MAX_GROWTH_BYTES);
  });
});

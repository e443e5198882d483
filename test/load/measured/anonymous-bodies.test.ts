import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import { describeWideModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { scrape } from '../../support/observability/exposition.js';
import { type ScriptedProvider, startProvider } from '../../support/provider.js';
import { slowness } from '../../support/slowness.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { readWaitedMs } from '../../support/waited-ms.js';

const MIB = 1_048_576;
const CONNECTIONS = 1000;
const SLOWEST_MS = 1000;
const ATTACK_MS = 5000;
const PART_BYTES = 65_536;

const UNFINISHED = Buffer.alloc(MIB - 1, 'a');
const ANNOUNCED = `content-length: ${MIB}\r\n\r\n`;
const CHUNKED = `transfer-encoding: chunked\r\n\r\n${(MIB / 2).toString(16)}\r\n`;

/** Each connection sends a head, and bytes of a body that never ends. */
const ATTACKS: readonly (readonly [title: string, path: string, framing: string])[] = [
  ['a page without a body', '/docs', ANNOUNCED],
  ['the sign-in of the console', '/console/api/session', ANNOUNCED],
  ['the sign-in, without a length', '/console/api/session', CHUNKED],
  ['modules behind the console', '/console/api/modules/wide/http/items', ANNOUNCED],
];

describe('anonymous clients that never finish a body', () => {
  let provider: ScriptedProvider;
  let host: HostProcess;
  const sockets: Socket[] = [];

  before(async () => {
    provider = await startProvider();
    host = await startHostProcess({
      args: ['--log-success-sample', '0', '--max-connections', '4000'],
      files: { 'wide.json': describeWideModule('wide', provider.url) },
    });
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await waitUntil('the release of everything', async () => {
      return (await scrape(host)).sum('modgate_held_bytes') === 0;
    });
  });

  after(async () => {
    await host?.stop();
    await provider?.stop();
  });

  const open = (head: string) => {
    const socket = connect(host.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('connect', () => {
      socket.write(head);
      socket.write(UNFINISHED);
    });
    sockets.push(socket);
  };

  for (const [title, path, framing] of ATTACKS) {
    it(`do not affect callers with a token: ${title}`, async () => {
      const fields = 'host: 127.0.0.1\r\nsec-fetch-site: same-origin\r\n';
      const head = `POST ${path} HTTP/1.1\r\n${fields}content-type: application/json\r\n${framing}`;
      for (let count = 0; count < CONNECTIONS; count += 1) open(head);
      const witness = await watch(host, ATTACK_MS);
      expect(witness.failures, 'calls that failed').to.equal(0);
      expect(witness.slowestMs, 'slowest call').to.be.below(SLOWEST_MS * slowness());
      expect(witness.calls).to.be.above(10);
    });
  }
});

interface Witnessed {
  readonly calls: number;
  readonly failures: number;
  readonly slowestMs: number;
}

/** Calls with a body, as another client. */
async function watch(host: HostProcess, forMs: number): Promise<Witnessed> {
  const body = JSON.stringify('a'.repeat(PART_BYTES));
  const request = [
    'POST /modules/wide/http/items HTTP/1.1',
    'host: 127.0.0.1',
    'authorization: Bearer dev-service:witness:wide.use',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ].join('\r\n');
  const connection = await RawConnection.open(host.port);
  const waitedMs = () => readWaitedMs(host.pid) + readWaitedMs(process.pid);
  let failures = 0;
  let slowestMs = 0;
  let calls = 0;
  const endsAt = performance.now() + forMs;
  while (performance.now() < endsAt) {
    const startedAt = performance.now() - waitedMs();
    connection.write(`${request}\r\n\r\n${body}`);
    const { status } = await connection.readFinal();
    slowestMs = Math.max(slowestMs, performance.now() - waitedMs() - startedAt);
    if (status !== 200) failures += 1;
    calls += 1;
    await pause(20);
  }
  connection.destroy();
  return { calls, failures, slowestMs };
}

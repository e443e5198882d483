import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
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
const MAX_GROWTH_MIB = 300;
const SLOWEST_MS = 1000;
const UNREAD = 400;
const CONNECTIONS = 350;
const ROUNDS = 20;
const PIPELINING = 20;
const PIPELINED = 20_000;
const UNKNOWN_KEYS = 190_000;
/** How long an attack lasts once it is complete. */
const ATTACK_MS = 3000;
/** The interval of reads by a slow client. */
const READ_INTERVAL_MS = 200;

const authorization = (actor: string) => `authorization: Bearer dev-service:${actor}:wide.use\r\n`;
const get = (module: string, headers: string) =>
  `GET /modules/${module}/http/items HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`;

/** Runs in a worker thread, so that the test measures the host. */
const LARGE_PROVIDER = `
const { createServer } = require('node:http');
const { parentPort } = require('node:worker_threads');
const body = Buffer.from(JSON.stringify('a'.repeat(${4 * MIB - 2})));
const headers = { 'content-type': 'application/json', 'content-length': body.length };
const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

describe('host under attack', () => {
  let provider: ScriptedProvider;
  let large: Worker;
  let host: HostProcess;
  let idleBytes = 0;
  const sockets: Socket[] = [];

  // A host for each attack: otherwise garbage of earlier ones would count as memory of the attack.
  beforeEach(async () => {
    provider = await startProvider();
    large = new Worker(LARGE_PROVIDER, { eval: true });
    const [port] = await once(large, 'message');
    const more = { limits: { timeout_ms: 20_000 } };
    host = await startHostProcess({
      args: ['--log-success-sample', '0', '--shed-delay-ms', '5000'],
      files: {
        'wide.json': describeWideModule('wide', provider.url, more),
        'large.json': describeWideModule('large', `http://127.0.0.1:${port}`, more),
      },
    });
    await new Witness(host).watch(async () => pause(500));
    idleBytes = residentBytes(host.pid);
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await waitUntil('the release of everything', async () => {
      const exposed = await scrape(host);
      return exposed.sum('modgate_held_bytes') + exposed.sum('modgate_in_flight') === 0;
    });
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
    await provider.stop();
    await large.terminate();
  });

  const open = (onConnect: (socket: Socket) => void): Socket => {
    const socket = connect(host.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('connect', () => onConnect(socket));
    sockets.push(socket);
    return socket;
  };

  const expectBounded = (peak: number) =>
    expect(Math.round((peak - idleBytes) / MIB), 'MiB above idle').to.be.below(MAX_GROWTH_MIB);

  /** Other callers are served during the attack, and the memory stays bounded. */
  const endure = async (attack: () => Promise<void>) => {
    const witness = new Witness(host);
    const peak = await witness.watch(attack);
    expectBounded(peak);
    expect(witness.refused, 'calls of another caller that were not served').to.equal(0);
    expect(Math.round(witness.slowestMs), 'slowest call').to.be.below(SLOWEST_MS * slowness());
  };

  it(`bounds ${PIPELINED} pipelined requests on each of ${PIPELINING} connections`, () =>
    endure(async () => {
      const burst = get('wide', authorization('attacker')).repeat(PIPELINED);
      for (let count = 0; count < PIPELINING; count += 1) {
        open((socket) => {
          socket.pause();
          socket.write(burst);
        });
      }
      await pause(ATTACK_MS);
    }));

  it(`holds few of ${UNREAD} responses of 4 MiB that are not read`, () =>
    endure(async () => {
      for (let count = 0; count < UNREAD; count += 1) {
        open((socket) => {
          socket.pause();
          socket.write(get('large', authorization('attacker')));
        });
      }
      await pause(ATTACK_MS);
    }));

  it('holds as few of responses that are read slowly', () =>
    endure(async () => {
      for (let count = 0; count < UNREAD; count += 1) {
        const socket = open(() => socket.write(get('large', authorization('attacker'))));
        socket.on('data', () => {
          socket.pause();
          setTimeout(() => socket.resume(), READ_INTERVAL_MS);
        });
      }
      await pause(ATTACK_MS);
    }));

  // They use the budget of the host up, so that other callers are rejected meanwhile.
  it(`holds few of the responses for ${UNREAD} actors`, async () => {
    const peak = await new Witness(host).watch(async () => {
      for (let count = 0; count < UNREAD; count += 1) {
        open((socket) => {
          socket.pause();
          socket.write(get('large', authorization(`attacker-${count}`)));
        });
      }
      await pause(ATTACK_MS);
    });
    expectBounded(peak);
  });

  it(`rejects random tokens on ${CONNECTIONS} connections`, () =>
    endure(async () => {
      for (let count = 0; count < CONNECTIONS; count += 1) {
        let left = ROUNDS;
        const socket = open(() => ask());
        const ask = () => {
          left -= 1;
          socket.write(get('wide', `authorization: Bearer ${randomUUID()}\r\n`));
        };
        socket.on('data', () => {
          if (left > 0) ask();
        });
      }
      await pause(ATTACK_MS);
    }));

  it('counts bodies that are written slowly', () =>
    endure(async () => {
      const head = `POST /modules/wide/http/items HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization('attacker')}`;
      const framing = `content-type: application/json\r\ncontent-length: ${MIB}\r\n\r\n`;
      const body = 'a'.repeat(MIB - 1);
      for (let count = 0; count < CONNECTIONS; count += 1) {
        open((socket) => {
          socket.write(head + framing);
          socket.write(body);
        });
      }
      await pause(ATTACK_MS);
    }));

  it(`rejects a descriptor with ${UNKNOWN_KEYS} unknown keys`, () =>
    endure(async () => {
      const keys = Array.from({ length: UNKNOWN_KEYS }, (_, index) => `k${index}: 1`);
      host.drop('keys.yaml', keys.join('\n'));
      await pause(ATTACK_MS);
      host.remove('keys.yaml');
    }));
});

/** Another caller, and the memory of the host. */
class Witness {
  refused = 0;
  slowestMs = 0;
  readonly #host: HostProcess;

  constructor(host: HostProcess) {
    this.#host = host;
  }

  /** @returns the most memory that the host had. Bytes. */
  async watch(during: () => Promise<void>): Promise<number> {
    let isOver = false;
    const connection = await RawConnection.open(this.#host.port);
    const ending = during().finally(() => {
      isOver = true;
    });
    let peak = 0;
    while (!isOver) {
      const from = performance.now() - this.#waitedMs();
      connection.write(get('wide', authorization('witness')));
      const { status } = await connection.readFinal();
      this.slowestMs = Math.max(this.slowestMs, performance.now() - this.#waitedMs() - from);
      if (status !== 200) this.refused += 1;
      peak = Math.max(peak, residentBytes(this.#host.pid));
      await pause(20);
    }
    connection.destroy();
    await ending;
    return peak;
  }

  /** How long the host and this process were ready to run, but other processes had the processors. */
  #waitedMs(): number {
    return readWaitedMs(this.#host.pid) + readWaitedMs(process.pid);
  }
}

function residentBytes(pid: number): number {
  const [, kilobytes = ''] =
    /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

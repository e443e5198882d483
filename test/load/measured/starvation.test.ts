import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import { ROOT } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { describeItems, readModule } from '../../support/provider/routes.js';
import { type RunningProvider, startProvider, startRawProvider } from '../../support/provider.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';

const CALLERS = 1_000;
const SAMPLES = 600;
/** The `retry-after` of the host. Clients wait for up to twice as long, to spread out. */
const RETRY_AFTER_MS = 1_000;
/** The maximum p99 relative to the quiet p99. `NOISE_MS` allows for the timer of the test. */
const WORST_RATIO = 2;
const NOISE_MS = 5;
/** Other tests share the machine, so one fair round of several is enough. */
const ROUNDS = 5;

describe('module that hangs', () => {
  let hanging: RunningProvider;
  let quick: RunningProvider;
  let host: HostProcess;

  before(async () => {
    hanging = await startRawProvider((socket) => socket.resume());
    quick = await startProvider();
    const more = { limits: { timeout_ms: 20_000 }, breaker: { failures: 1000 } };
    host = await startHostProcess({
      files: {
        'hanging.json': describeItems('hanging', { endpoints: [hanging.url] }, more),
        'quick.json': describeItems('quick', { endpoints: [quick.url] }),
      },
    });
  });

  after(async () => {
    await hanging.stop();
    await quick.stop();
    await host.kill();
  });

  const measureP99 = async () => {
    const connection = await RawConnection.open(host.port);
    const durations: number[] = [];
    try {
      for (let sample = 0; sample < SAMPLES; sample += 1) {
        const from = performance.now();
        connection.write(requestOf('quick'));
        const { status } = await connection.readFinal();
        durations.push(performance.now() - from);
        expect(status).to.equal(200);
      }
    } finally {
      connection.destroy();
    }
    durations.sort((first, other) => first - other);
    return durations[Math.floor(SAMPLES * 0.99)] ?? 0;
  };

  it('does not starve others: their p99 at most doubles under 1,000 clients', async () => {
    await measureP99();
    const figures: string[] = [];
    let isFair = false;
    for (let round = 0; round < ROUNDS && !isFair; round += 1) {
      const quiet = await measureP99();
      const callers = holdCallers(host);
      try {
        await waitUntil('the callers', async () => {
          const { in_flight, calls } = (await readModule(host, 'hanging')).counts;
          return in_flight === 256 && calls >= CALLERS * (round + 1);
        });
        const loud = await measureP99();
        expect((await readModule(host, 'hanging')).counts.in_flight).to.equal(256);
        figures.push(`${quiet.toFixed(1)} ms quiet, ${loud.toFixed(1)} ms loud`);
        isFair = loud < WORST_RATIO * quiet + NOISE_MS;
      } finally {
        callers.hangUp();
      }
      await waitUntil('no caller left', async () => {
        const { in_flight, queued } = (await readModule(host, 'hanging')).counts;
        return in_flight + queued === 0 && hanging.sockets.size === 0;
      });
    }
    expect(isFair, figures.join('; ')).to.equal(true);
  });
});

const requestOf = (module: string) =>
  `GET /modules/${module}/http/items HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${ROOT}\r\n\r\n`;

interface Callers {
  hangUp(): void;
}

/**
 * Clients that wait for each response and retry after `retry-after`. They are plain sockets, so that
 * the test measures the host.
 */
function holdCallers({ port }: { readonly port: number }): Callers {
  const sockets: Socket[] = [];
  const timers = new Map<Socket, NodeJS.Timeout>();
  for (let caller = 0; caller < CALLERS; caller += 1) {
    const socket = connect({ port, host: '127.0.0.1' });
    const ask = () => {
      timers.delete(socket);
      socket.write(requestOf('hanging'));
    };
    socket.on('connect', ask);
    socket.on('data', () => {
      // A response may arrive in pieces.
      if (timers.has(socket)) return;
      timers.set(socket, setTimeout(ask, RETRY_AFTER_MS * (1 + Math.random())));
    });
    socket.on('error', () => {});
    sockets.push(socket);
  }
  return {
    hangUp: () => {
      for (const timer of timers.values()) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

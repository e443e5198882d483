import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { ROOT } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import {
  createFrame,
  openRaw,
  writeAccepted,
  writeHandshake,
} from '../../support/http/use-websockets.js';
import { scrape } from '../../support/observability/exposition.js';
import { slowness } from '../../support/slowness.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import {
  type StreamingProvider,
  startStreamingProvider,
} from '../../support/streaming-provider.js';

const MIB = 1_048_576;
const STREAM_BYTES = 8 * MIB;
const CHUNK_BYTES = 65_536;
/** The CPU time of tiny units, relative to that of large ones, whose ends are found many bytes at a time. */
const MAX_RATIO = 10;
/** Always cheap: a tunnel forwards large frames at almost no cost. CPU milliseconds. */
const CHEAP_MS_PER_MIB = 20;
/** Other processes share the caches of the machine, so one round of several is enough. */
const ROUNDS = 3;

const LARGE = 'x'.repeat(8192);
const CHUNKED: Readonly<Record<string, readonly string[]>> = {
  sse: [
    ...['\n', '\r', '\r\n', ':\n\n', ':\r\n\r\n', 'data: 1\n\n', 'a\r\r', 'é\n\r\n'],
    ...['data: modgate.\n\n', ':'.repeat(7).concat('\r\n\r')],
  ],
  ndjson: [
    ...['\n', '{}\n', '1\n', ' \r\n', '"\\u0061"\n', '{"a":"modgate."}\n', '[{"modgate.":1}]\n'],
    ...['{"\\u006dodgate":1}\n', '[[[[]]]]\n'],
  ],
};
const [CONTINUATION, BINARY, PING] = [0x0, 0x2, 0x9];
const FRAMES = {
  'of no bytes': createFrame(BINARY, ''),
  'of one byte': createFrame(BINARY, '1'),
  'of control': createFrame(PING, ''),
  'of messages in parts': Buffer.concat([
    createFrame(BINARY, '', { fin: false }),
    createFrame(CONTINUATION, '', { fin: false }),
    createFrame(CONTINUATION, ''),
  ]),
};

describe('tiny units of streams', function () {
  this.timeout(300_000);
  let provider: StreamingProvider;
  let host: HostProcess;
  let answer = (_response: ServerResponse): void => {};
  let upgraded = (_connection: Duplex): void => {};

  before(async () => {
    provider = await startStreamingProvider((_request, response) => answer(response));
    provider.onUpgrade((request, connection) => {
      connection.on('error', () => {}).on('end', () => connection.end());
      connection.write(writeAccepted(request));
      upgraded(connection);
    });
    const routes = ['sse', 'ndjson', 'websocket'].map((stream) => ({
      ...{ method: 'GET', path: `/${stream}`, capability: 'units.read' },
      operation: { stream },
    }));
    const limits = { stream: { units_s: 10_000_000 } };
    host = await startHostProcess({
      args: ['--log-success-sample', '0'],
      files: {
        'units.json': describeModule('units', provider.url, routes, { limits }),
        'raw.json': describeModule('raw', provider.url, routes, {
          limits,
          responses: { mode: 'raw' },
        }),
      },
    });
  });

  after(async () => {
    await host?.stop();
    await provider?.stop();
  });

  const cpuMs = async () => (await scrape(host)).sum('process_cpu_seconds_total') * 1000;

  /** @returns the CPU time of the host for each MiB that `read` receives. Milliseconds. */
  const measure = async (read: () => Promise<number>): Promise<number> => {
    const before = await cpuMs();
    const bytes = await read();
    return ((await cpuMs()) - before) / (bytes / MIB);
  };

  const readStream = (module: string, form: string, unit: string) => {
    const chunk = Buffer.from(unit.repeat(Math.ceil(CHUNK_BYTES / Buffer.byteLength(unit))));
    answer = async (response) => {
      const type = form === 'sse' ? 'text/event-stream' : 'application/x-ndjson';
      response.writeHead(200, { 'content-type': type });
      for (let sent = 0; sent < STREAM_BYTES; sent += chunk.length) {
        if (!response.write(chunk)) await once(response, 'drain').catch(() => {});
      }
      response.end();
    };
    return async () => {
      const accept = form === 'sse' ? 'text/event-stream' : 'application/x-ndjson';
      const response = await fetch(`${host.url}/modules/${module}/http/${form}`, {
        headers: { authorization: `Bearer ${ROOT}`, accept },
      });
      expect(response.status).to.equal(200);
      let received = 0;
      for await (const part of response.body ?? []) received += part.length;
      expect(received).to.be.at.least(STREAM_BYTES);
      return received;
    };
  };

  const readFrames = (frame: Buffer) => {
    const chunk = Buffer.concat(Array(Math.ceil(CHUNK_BYTES / frame.length)).fill(frame));
    upgraded = async (connection) => {
      for (let sent = 0; sent < STREAM_BYTES; sent += chunk.length) {
        if (!connection.write(chunk)) await once(connection, 'drain').catch(() => {});
      }
      connection.end();
    };
    return async () => {
      const client = await openRaw(host.port);
      let received = 0;
      client.socket.removeAllListeners('data').on('data', (part) => {
        received += part.length;
      });
      client.write(writeHandshake('/modules/units/http/websocket'));
      await client.ended();
      client.socket.destroy();
      expect(received).to.be.at.least(STREAM_BYTES);
      return received;
    };
  };

  /** Compares with the CPU time of large units, in the same round. */
  const expectCheap = async (
    name: string,
    tiny: () => () => Promise<number>,
    large: () => () => Promise<number>,
  ) => {
    const figures: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const usual = await measure(large());
      const cost = await measure(tiny());
      figures.push(`${cost.toFixed(1)} and ${usual.toFixed(1)} ms/MiB`);
      if (cost < Math.max(MAX_RATIO * usual, CHEAP_MS_PER_MIB * slowness())) break;
      expect(round, figures.join('; ')).to.be.below(ROUNDS - 1);
    }
    console.log(`      ${name}: ${figures.join('; ')}`);
  };

  for (const module of ['units', 'raw']) {
    for (const [form, units] of Object.entries(CHUNKED)) {
      const whole = form === 'sse' ? `data: ${LARGE}\n\n` : `"${LARGE}"\n`;
      it(`cost less than ${MAX_RATIO} times as much as large ones (${form}, ${module})`, async () => {
        await readStream(module, form, whole)();
        for (const unit of units) {
          await expectCheap(
            JSON.stringify(unit),
            () => readStream(module, form, unit),
            () => readStream(module, form, whole),
          );
        }
      });
    }
  }

  it(`cost less than ${MAX_RATIO} times as much as large ones (frames)`, async () => {
    const large = () => readFrames(createFrame(BINARY, LARGE));
    await large()();
    for (const [name, frame] of Object.entries(FRAMES)) {
      await expectCheap(`frames ${name}`, () => readFrames(frame), large);
    }
  });
});

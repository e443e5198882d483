import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { call, ROOT } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { createFrame, writeAccepted } from '../../../support/http/use-websockets.js';
import { waitUntil } from '../../../support/http/wait-until.js';
import { readModule } from '../../../support/provider/routes.js';
import { type ScriptedProvider, startProvider } from '../../../support/provider.js';
import { type RunningHost, startHost } from '../../../support/start-host.js';

const capability = 'use';
const ROUTES = [
  { method: 'GET', path: '/events', capability, operation: { stream: 'sse' } },
  { method: 'GET', path: '/lines', capability, operation: { stream: 'ndjson' } },
  { method: 'GET', path: '/bytes', capability, operation: { response: 'bytes' } },
  { method: 'GET', path: '/socket', capability, operation: { stream: 'websocket' } },
];
const TYPES: Readonly<Record<string, string>> = {
  '/events': 'text/event-stream',
  '/lines': 'application/x-ndjson',
  '/bytes': 'application/octet-stream',
};
const UNITS: Readonly<Record<string, string>> = {
  '/events': 'data: 1\n\n',
  '/lines': '{}\n',
  '/bytes': 'part',
};
const ACCEPT: Readonly<Record<string, string>> = { ...TYPES, '/bytes': '*/*' };
const NORMAL_CLOSE = [0x03, 0xe8];
const CLOSE = 0x8;
/** A reserved opcode. */
const INVALID = 0xb;

describe('a stream that breaks off', () => {
  let provider: ScriptedProvider;
  let host: RunningHost;
  let answer: (response: ServerResponse) => void = (response) => void response.end();
  let accept: (connection: Duplex) => void = (connection) => void connection.end();

  before(async () => {
    provider = await startProvider(() => {}, {
      onHead: ({ url = '' }, response) => {
        response.writeHead(200, { 'content-type': TYPES[url] ?? '' }).write(UNITS[url]);
        answer(response);
        return true;
      },
      onUpgrade: (handshake, connection) => {
        connection.on('error', () => {});
        connection.write(writeAccepted(handshake), () => accept(connection));
      },
    });
    const describe = (name: string, overrides: object = {}) =>
      describeModule(name, provider.url, ROUTES, overrides);
    const raw = { responses: { mode: 'raw' } };
    host = await startHost({
      files: { 'm.json': describe('m'), 'raw.json': describe('raw', raw), 'p.json': describe('p') },
    });
  });

  after(async () => {
    await host.kill();
    await provider.stop();
  });

  const get = (module: string, path: string) =>
    call(host, {
      target: `/modules/${module}/http${path}`,
      headers: [['accept', ACCEPT[path] ?? '']],
    }).catch(() => null);
  const openSocket = async (module: string) => {
    const socket = new WebSocket(
      `${host.url.replace('http', 'ws')}/modules/${module}/http/socket`,
      {
        headers: { authorization: `Bearer ${ROOT}` },
      },
    );
    socket.on('error', () => {});
    return socket;
  };
  const countsOf = async (module: string) => (await readModule(host, module)).counts;
  const expectAdded = async (module: string, failed: number, work: () => Promise<unknown>) => {
    const before = await countsOf(module);
    await work();
    await waitUntil('the counts', async () => {
      const { calls, failed: now } = await countsOf(module);
      return calls === before.calls + 1 && now === before.failed + failed;
    });
  };
  const failuresOf = async (module: string) => {
    const metrics = (await call(host, { target: '/metrics' })).body.toString();
    const lines = metrics.split('\n').filter((line) => line.startsWith('modgate_failures_total'));
    return lines
      .filter((line) => line.includes(`module="${module}"`))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };

  for (const module of ['m', 'raw']) {
    for (const path of Object.keys(TYPES)) {
      it(`is a failed call: ${path} of ${module}`, async () => {
        answer = (response) => void setImmediate(() => response.destroy());
        const before = await failuresOf(module);
        await expectAdded(module, 1, () => get(module, path));
        await waitUntil('the metric', async () => (await failuresOf(module)) === before + 1);
      });

      it(`is none if it ends in order: ${path} of ${module}`, async () => {
        answer = (response) => void response.end();
        await expectAdded(module, 0, () => get(module, path));
      });
    }
  }

  it('is a failed call: events that are invalid', async () => {
    answer = (response) => void response.end('x'.repeat(2_000_000));
    await expectAdded('m', 1, () => get('m', '/events'));
  });

  const PEERS: Readonly<Record<string, { failed: number; peer: (connection: Duplex) => void }>> = {
    'that a provider resets': { failed: 1, peer: (connection) => void connection.destroy() },
    'that a provider ends without a close frame': {
      failed: 1,
      peer: (connection) => void connection.end(),
    },
    'with an invalid frame': {
      failed: 1,
      peer: (connection) => void connection.write(createFrame(INVALID, 'x')),
    },
    'that a provider closes in order': {
      failed: 0,
      peer: (connection) => void connection.write(createFrame(CLOSE, NORMAL_CLOSE)),
    },
  };
  for (const [subject, { failed, peer }] of Object.entries(PEERS)) {
    it(`is ${failed === 1 ? 'a' : 'no'} failed call: a WebSocket ${subject}`, async () => {
      accept = peer;
      const before = await failuresOf('m');
      await expectAdded('m', failed, async () => once(await openSocket('m'), 'close'));
      await waitUntil('the metric', async () => (await failuresOf('m')) === before + failed);
    });
  }

  it('is no failed call if the caller leaves', async () => {
    accept = (connection) => void connection.resume();
    await expectAdded('m', 0, async () => {
      const socket = await openSocket('m');
      await once(socket, 'open');
      socket.terminate();
      await once(socket, 'close');
    });
  });

  it('counts for the probation of a version', async () => {
    const probation = { seconds: 3600, max_error_rate: 0.5, min_calls: 2 };
    host.drop('p.json', describeModule('p', provider.url, ROUTES, { probation }));
    await waitUntil('the new version', async () =>
      host.logs().some(({ msg, module }) => msg === 'module changed' && module === 'p'),
    );
    const stateOf = async () => (await readModule(host, 'p')) as unknown as { state: string };
    answer = (response) => void setImmediate(() => response.destroy());
    await waitUntil('the rollback', async () => {
      await get('p', '/events');
      return (await stateOf()).state === 'rolled_back';
    });
  });
});

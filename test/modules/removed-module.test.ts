import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { expect } from 'chai';
import { call, ROOT } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { openRaw, writeAccepted, writeHandshake } from '../support/http/use-websockets.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';
import { use } from '../support/use.js';

const capability = 'use';
const ROUTES = [
  { method: 'GET', path: '/slow', capability },
  { method: 'GET', path: '/download', capability, operation: { response: 'bytes' } },
  { method: 'PUT', path: '/upload', capability, operation: { body: 'bytes' } },
  { method: 'GET', path: '/events', capability, operation: { stream: 'sse' } },
  { method: 'GET', path: '/socket', capability, operation: { stream: 'websocket' } },
];
const PATIENT = { timeout_ms: 60_000, body_idle_ms: 60_000, body_min_bytes_s: 0 };
const DRAIN_MS = 1000;
const CUT_MS = 10_000;
const CLOSE_MS = 5000;
/** Half of the other limits of the calls. */
const LATE_MS = 30_000;
/** Node's timers fire up to a millisecond early. */
const EARLY_MS = 2;
const AUTHORIZATION = { authorization: `Bearer ${ROOT}` };

describe('calls in flight on a removed module', () => {
  const provider = use(() =>
    startProvider(() => {}, {
      onHead: ({ url }, response) => {
        if (url === '/download') {
          response.writeHead(200, { 'content-type': 'application/octet-stream' }).write('part');
        }
        if (url === '/events') {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
        }
        return true;
      },
      onUpgrade: (handshake, connection) => {
        connection.on('error', () => {});
        // Never answers a close frame.
        connection.write(writeAccepted(handshake));
        connection.resume();
      },
    }),
  );
  const host = use(
    () =>
      startHost({
        args: ['--drain-ms', String(DRAIN_MS)],
        files: { 'm.json': describeModule('m', provider.url, ROUTES, { limits: PATIENT }) },
      }),
    (running) => running.kill(),
  );

  const send = (method: string, path: string): ClientRequest =>
    request(`${host.url}/modules/m/http${path}`, { method, headers: AUTHORIZATION });
  /** Resolves with the time of its end. */
  const endOf = async (sent: ClientRequest): Promise<number> => {
    await new Promise<void>((resolve) => {
      sent.on('error', () => resolve());
      sent.on('response', (response) => {
        response.on('error', () => resolve());
        response.on('close', () => resolve());
        response.resume();
      });
    });
    return performance.now();
  };
  /** A client that never answers a close frame. */
  const openSocket = async () => {
    const client = await openRaw(host.port);
    client.write(writeHandshake('/modules/m/http/socket', AUTHORIZATION));
    await client.until('\r\n\r\n');
    return client;
  };
  const readInFlight = async () => {
    const list = await call(host, { target: '/modules' });
    const { modules } = JSON.parse(list.body.toString()) as {
      modules: { counts: { in_flight: number } }[];
    };
    return modules[0]?.counts.in_flight;
  };

  it('end after 10 s, events when the time to drain is over, WebSockets 5 s later', async () => {
    const slow = send('GET', '/slow');
    const download = send('GET', '/download');
    const upload = send('PUT', '/upload');
    const events = send('GET', '/events');
    events.setHeader('accept', 'text/event-stream');
    upload.setHeader('content-type', 'application/octet-stream');
    upload.write('part');
    const ends = [slow, download, upload, events].map(endOf);
    const begun = once(events, 'response');
    for (const sent of [slow, download, events]) sent.end();
    const socket = await openSocket();
    const closed = socket.ended().then(() => performance.now());
    await begun;
    await waitUntil('three calls', async () => (await readInFlight()) === 3);
    const removedAt = performance.now();
    host.remove('m.json');
    await waitUntil(
      '404',
      async () => (await call(host, { target: '/modules/m/http/x' })).status === 404,
    );
    await waitUntil('the removal', () => host.logs().some(({ msg }) => msg === 'module removed'));
    const [slowMs = 0, downloadMs = 0, uploadMs = 0, eventsMs = 0, socketMs] = (
      await Promise.all([...ends, closed])
    ).map((endedAt) => endedAt - removedAt);
    for (const ms of [slowMs, downloadMs, uploadMs]) {
      expect(ms).to.be.within(CUT_MS - EARLY_MS, LATE_MS);
      expect(eventsMs).to.be.within(DRAIN_MS - EARLY_MS, ms - CLOSE_MS);
    }
    expect(socketMs).to.be.within(DRAIN_MS + CLOSE_MS - EARLY_MS, LATE_MS);
  });
});

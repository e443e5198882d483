// Opens many idle streams of events or WebSockets through one host, reloads another module beside them, and prints
// memory per stream and how many were cut; then the memory of a stream of node:http and undici alone.
// usage: node bench/idle-streams.mjs [streams] [reloads], after a build.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { acceptKey } from '../dist/core/lib/websocket/handshake.js';
import { LOAD_CORE, startServer } from './parts/pinned-process.mjs';

const MAIN = fileURLToPath(new URL('../dist/core/main.js', import.meta.url));
const BATCH = 100;
const SETTLE_MS = 10_000;
const KIB = 1024;
const AUTHORIZATION = 'authorization: Bearer dev-system:bench';

if (process.argv[2] === 'provider') serveProvider();
else await measure(Number(process.argv[2] ?? 10_000), Number(process.argv[3] ?? 1000));

/** Begins each stream and then sends nothing. */
function serveProvider() {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  });
  server.on('upgrade', (request, connection) => {
    const accept = acceptKey(request.headers['sec-websocket-key']);
    connection.on('error', () => {});
    connection.write(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n' +
        `sec-websocket-accept: ${accept}\r\n\r\n`,
    );
    connection.resume();
  });
  server.listen(0, '127.0.0.1', 4096, () => process.send(server.address().port));
}

async function measure(streams, reloads) {
  const provider = fork(fileURLToPath(import.meta.url), ['provider']);
  const [port] = await once(provider, 'message');
  try {
    for (const kind of ['websocket', 'sse']) {
      const result = await measureKind(kind, `http://127.0.0.1:${port}`, streams, reloads);
      console.log(JSON.stringify({ node: process.version, kind, ...result }));
    }
    const bare = await measureBare(`http://127.0.0.1:${port}`, streams);
    console.log(JSON.stringify({ node: process.version, kind: 'sse, bare', streams, ...bare }));
  } finally {
    provider.kill();
  }
}

async function measureKind(kind, endpoint, streams, reloads) {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-idle-'));
  const modules = join(folder, 'modules.d');
  mkdirSync(modules);
  const write = (name, more) =>
    writeFileSync(join(modules, `${name}.json`), JSON.stringify(describe(name, endpoint, more)));
  const longest = 3_600_000;
  const stream = { per_actor: streams, total: streams, idle_ms: longest, max_ms: longest };
  write('streams', { limits: { stream } });
  write('other', {});
  const host = spawn(
    process.execPath,
    [
      ...[MAIN, 'serve', '--env', 'development', '--port', '0', '--modules', modules],
      ...['--state', join(folder, 'state'), '--max-connections', String(streams + 1000)],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const sockets = [];
  try {
    const port = await readPort(host.stdout);
    host.stdout.resume();
    await untilLoaded(port, 2);
    const measured = await measureStreams(host.pid, port, kind, streams, sockets);
    const applied = await reloadOther(port, write, reloads);
    const cut = sockets.filter((socket) => socket.destroyed || socket.readableEnded).length;
    return {
      streams,
      ...measured,
      reloads: applied,
      cut,
      residentAfterReloadsMiB: Math.round(readResident(host.pid) / KIB),
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    host.kill('SIGKILL');
    await once(host, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param sockets gets the connections of all streams */
async function measureStreams(pid, port, kind, streams, sockets) {
  // What the first calls of a process load is no cost of a stream.
  sockets.push(...(await openMany(port, kind, BATCH)));
  await pause(SETTLE_MS);
  const before = readResident(pid);
  sockets.push(...(await openMany(port, kind, streams - BATCH)));
  await pause(SETTLE_MS);
  const after = readResident(pid);
  const perStream = (after - before) / (streams - BATCH);
  return { residentMiB: Math.round(after / KIB), perStreamKiB: Number(perStream.toFixed(1)) };
}

/** What a stream of events takes where nothing stands between the two connections. */
async function measureBare(endpoint, streams) {
  const bare = await startServer(LOAD_CORE, 'bare.mjs', [endpoint]);
  const sockets = [];
  try {
    return await measureStreams(bare.pid, new URL(bare.url).port, 'sse', streams, sockets);
  } finally {
    for (const socket of sockets) socket.destroy();
    await bare.stop();
  }
}

function describe(name, endpoint, more) {
  const route = (path, stream) => ({ method: 'GET', path, capability: 'bench.use', operation: { stream } });
  return {
    module: name,
    provider: { kind: 'http', config: { endpoints: [endpoint] } },
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: name,
        capabilities: ['bench.use'],
        http_routes: [route('/sse', 'sse'), route('/websocket', 'websocket')],
      },
    },
    ...more,
  };
}

async function readPort(stdout) {
  let text = '';
  for (;;) {
    const [chunk] = await once(stdout, 'data');
    text += chunk;
    const port = /"url":"http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
    if (port !== undefined) return Number(port);
  }
}

async function openMany(port, kind, count) {
  const opened = [];
  while (opened.length < count) {
    const size = Math.min(BATCH, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: size }, () => open(port, kind)))));
  }
  return opened;
}

/** Resolves once the stream has begun. */
function open(port, kind) {
  const lines =
    kind === 'sse'
      ? ['accept: text/event-stream']
      : [
          ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
          'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
        ];
  const target = `GET /modules/streams/http/${kind} HTTP/1.1`;
  const expected = kind === 'sse' ? 'data: 1' : ' 101 ';
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('error', reject);
    socket.once('close', () => reject(new Error(`closed: ${text.slice(0, 300)}`)));
    socket.on('data', (chunk) => {
      if (text.length < 4096) text += chunk;
      if (text.includes(expected)) resolve(socket);
    });
    socket.write([target, 'host: localhost', AUTHORIZATION, ...lines, '\r\n'].join('\r\n'));
  });
}

async function listModules(port) {
  const response = await fetch(`http://127.0.0.1:${port}/modules`, {
    headers: { authorization: 'Bearer dev-system:bench' },
  });
  return (await response.json()).modules;
}

async function untilLoaded(port, count) {
  while ((await listModules(port)).filter(({ state }) => state === 'live').length < count) {
    await pause(50);
  }
}

/** @returns how many reloads were seen, each before the next one */
async function reloadOther(port, write, reloads) {
  let seen = 0;
  const digest = async () => (await listModules(port)).find(({ name }) => name === 'other').file_digest;
  for (let index = 0; index < reloads; index += 1) {
    const before = await digest();
    write('other', { limits: { timeout_ms: 1000 + index } });
    while ((await digest()) === before) await pause(20);
    seen += 1;
  }
  return seen;
}

/** KiB. */
function readResident(pid) {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}

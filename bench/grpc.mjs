// CPU time of a unary gRPC call of 100 B through the adapter, relative to a call with the same libraries alone; then
// resident memory of a host for each of many server streams: node bench/grpc.mjs [calls] [streams], after a build.
import { spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createFileRegistry, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { grpcAdapter } from '../dist/plugins/grpc/grpc-adapter.js';
import { createInvocation, openAdapter } from '../dist/test/plugins/open-adapter.js';
import { LOAD_CORE, readLine, spawnPinned, stop } from './parts/pinned-process.mjs';
import { summarise } from './parts/statistics.mjs';

const [first = '4000', streams = '1000'] = process.argv.slice(2);
const SET = resolve('test/corpus/grpc/library.binpb');
const CONCURRENCY = 32;
const ROUNDS = 20;
const SETTLE_MS = 3_000;
const HEAD = { ':status': 200, 'content-type': 'application/grpc' };
const BODY = Buffer.from(JSON.stringify({ aString: 'x'.repeat(70), anInt64: '9007199254740993' }));

/** What the host sends with each call. */
const HEADERS = {
  'x-request-id': 'req_01980000-0000-7000-8000-000000000000',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'modgate-actor': 'system:bench',
  'modgate-call-id': '01980000-0000-7000-8000-000000000001',
  'modgate-module': 'library',
};

if (first === 'server') serve();
else await measure(Number(first), Number(streams));

/** Echoes a message; a stream gets one and stays open. */
function serve() {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    const isStream = headers[':path'].endsWith('/Many');
    stream.on('error', () => {});
    stream.respond(HEAD, { waitForTrailers: !isStream });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    if (!isStream) stream.pipe(stream);
    else stream.on('data', (chunk) => stream.write(chunk));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

async function measure(calls, count) {
  const args = [fileURLToPath(import.meta.url), 'server'];
  const server = spawnPinned(LOAD_CORE, process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await readLine(server, (line) => line);
  try {
    const direct = await createDirect(port);
    const adapter = await createAdapted(port);
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push([await spend(direct.call, calls), await spend(adapter.call, calls)]);
    }
    // Others on the machine only add to a round.
    const [alone, adapted] = [0, 1].map((at) => summarise(rounds.map((round) => round[at])).min);
    console.log(`unary call of 100 B: ${adapted} µs, alone ${alone} µs`);
    console.log(`ratio ${(adapted / alone).toFixed(2)}`);
    await adapter.close();
    direct.close();
    if (count > 0) await measureStreams(port, count);
  } finally {
    server.kill('SIGKILL');
  }
}

/** CPU time of each call, in microseconds. */
async function spend(call, calls) {
  let left = calls;
  const before = process.cpuUsage();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (; left > 0; left -= 1) await call();
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

/** What a client does that has nothing but these libraries: JSON in, JSON out. */
async function createDirect(port) {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(SET)));
  const type = registry.getMessage('library.v1.Everything');
  const session = connect(`http://127.0.0.1:${port}`);
  const headers = {
    ...HEADERS,
    ...{ ':method': 'POST', ':path': '/library.v1.Echo/Echo', te: 'trailers' },
    'content-type': 'application/grpc',
  };
  const call = () =>
    new Promise((done, fail) => {
      const message = toBinary(type, fromJson(type, JSON.parse(BODY.toString()), { registry }));
      const frame = Buffer.alloc(5 + message.length);
      frame.writeUInt32BE(message.length, 1);
      frame.set(message, 5);
      const stream = session.request(headers);
      const parts = [];
      let status;
      stream.on('data', (part) => parts.push(part));
      stream.on('trailers', (trailers) => {
        status = trailers['grpc-status'];
      });
      stream.on('error', fail);
      stream.on('close', () => {
        if (status !== '0') return fail(new Error(`status ${status}`));
        const json = toJson(type, fromBinary(type, Buffer.concat(parts).subarray(5)), { registry });
        done(Buffer.from(JSON.stringify(json)));
      });
      stream.end(frame);
    });
  return { call, close: () => session.close() };
}

async function createAdapted(port) {
  const config = { endpoints: [`grpc://127.0.0.1:${port}`], descriptors: { file: 'set' } };
  const opened = await openAdapter(grpcAdapter, config, { files: { set: readFileSync(SET) } });
  const options = { method: 'library.v1.Echo/Echo' };
  const declared = { method: 'POST', path: '/echo' };
  opened.provider.useRoutes([{ declared, options }]);
  const { signal } = new AbortController();
  setMaxListeners(CONCURRENCY + 1, signal);
  const operation = { method: 'POST', declaredPath: '/echo', target: '/echo', body: BODY, options };
  const headers = { ...HEADERS, 'modgate-deadline-ms': '5000', 'content-type': 'application/json' };
  const invocation = createInvocation(operation, { signal, headers });
  const call = async () => {
    const { status } = await opened.provider.invoke(invocation);
    if (status !== 200) throw new Error(`status ${status}`);
  };
  return { call, close: opened.close };
}

async function measureStreams(port, count) {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-grpc-'));
  mkdirSync(join(folder, 'modules.d'));
  const path = join(folder, 'modules.d/library.json');
  writeFileSync(path, JSON.stringify(describeModule(port, count)));
  const flags = ['--env', 'development', '--port', '0', '--max-connections', String(count + 100)];
  const files = ['--modules', join(folder, 'modules.d'), '--state', join(folder, 'state')];
  const args = [resolve('dist/core/main.js'), 'serve', ...flags, ...files];
  const host = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const sockets = [];
  try {
    const url = new URL(await readLine(host, (line) => /"url":"(http:[^"]+)"/.exec(line)?.[1]));
    const openMany = async (many) => {
      for (let index = 0; index < many; index += 1) sockets.push(await openStream(url.port));
      await pause(SETTLE_MS);
      return readResident(host.pid);
    };
    // What the first calls load is not a cost of a stream.
    const before = await openMany(100);
    const after = await openMany(count);
    console.log(`${count} streams: ${((after - before) / count).toFixed(1)} KiB each`);
  } finally {
    for (const socket of sockets) socket.destroy();
    await stop(host);
    rmSync(folder, { recursive: true, force: true });
  }
}

function describeModule(port, count) {
  const operation = { stream: 'ndjson', grpc: 'library.v1.Echo/Many' };
  const route = { method: 'POST', path: '/many', capability: 'library.use', operation };
  const longest = 3_600_000;
  const total = count + 100;
  return {
    module: 'library',
    provider: {
      kind: 'grpc',
      config: { endpoints: [`grpc://127.0.0.1:${port}`], descriptors: { file: SET } },
    },
    manifest: {
      inline: {
        ...{ protocol: 'modgate.manifest.v1', module_id: 'library' },
        ...{ capabilities: ['library.use'], http_routes: [route] },
      },
    },
    limits: { stream: { per_actor: total, total, idle_ms: longest, max_ms: longest } },
  };
}

/** Resolves once the first message has arrived. */
function openStream(port) {
  return new Promise((done, fail) => {
    const socket = connectTcp(port, '127.0.0.1');
    let text = '';
    socket.on('error', fail);
    socket.once('close', () => fail(new Error(`closed: ${text.slice(0, 500)}`)));
    socket.on('data', (chunk) => {
      if (text.length < 4096) text += chunk;
      if (text.includes('aString')) done(socket);
    });
    const lines = [
      ...['POST /modules/library/http/many HTTP/1.1', 'host: localhost'],
      ...['authorization: Bearer dev-system:bench', 'accept: application/x-ndjson'],
      ...['content-type: application/json', `content-length: ${BODY.length}`],
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n${BODY}`);
  });
}

/** KiB. */
function readResident(pid) {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}

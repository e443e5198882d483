// How the host scales with --workers on two cores: node bench/workers.mjs [folder of the build, default dist]
//
// The load shares the cores with the host, so two things are measured. Req/s of a request that costs the
// host far more than the load (1 MiB of JSON, validated in the process): what is left of twice the throughput
// once the load has had its part. And CPU time per small request, over all processes of the host, under the
// same load: were that the same for one worker and for two, two cores of their own would serve twice as much.
// The third gives each worker 0.3 of a core and no more, by a control group, which leaves enough to the load: what two
// of them serve of small requests, each of them with as much to do as it can.

import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { canLimit, limitEach } from './parts/cpu-quota.mjs';
import { applyLoad } from './parts/load.mjs';
import { describeMachine, formatMachine } from './parts/machine.mjs';
import { startModgate } from './parts/modgate.mjs';
import { PAYLOADS } from './parts/payloads.mjs';
import { LOAD_CORE, startServer } from './parts/pinned-process.mjs';
import { listTree, readOwnCpuMicroseconds } from './parts/process-figures.mjs';
import { round, summarise } from './parts/statistics.mjs';

const ROUNDS = 5;
const ROUND_SECONDS = 4;
const WARM_UP_SECONDS = 6;
const BOTH_CORES = '0,1';
// The host is saturated on purpose: load shedding is off.
const NO_SHEDDING = ['--shed-delay-ms', '60000'];
/** A pause before each request: what all of them serve without being saturated. */
const THINK_MS = 3;

const SHARE = 0.3;

const SCENARIOS = [
  {
    name: 'GET 1 MiB of the process itself',
    path: '/get-1m',
    kind: 'local',
    connections: 8,
    thinkMs: 0,
  },
  {
    name: 'GET 100 B of a provider, half loaded',
    path: '/get-100b',
    kind: 'http',
    connections: 32,
    thinkMs: THINK_MS,
  },
  {
    name: `GET 100 B of a provider, ${SHARE} of a core for each worker`,
    path: '/get-100b',
    kind: 'http',
    connections: 64,
    thinkMs: 0,
    share: SHARE,
  },
];

const HOSTS = [
  { name: 'one process', args: [] },
  { name: '--workers 1', args: ['--workers', '1'] },
  { name: '--workers 2', args: ['--workers', '2'] },
];

const print = (line) => process.stdout.write(`${line}\n`);
const dist = process.argv[2] ?? 'dist';

if (availableParallelism() < 2) throw new Error('two cores are needed');
const machine = describeMachine();
print(formatMachine(machine).replace(/host on core 0.*/, 'host on both cores; load on core 1'));
const upstream = await startServer(LOAD_CORE, 'upstream.mjs');
const results = [];
for (const scenario of SCENARIOS) {
  if (scenario.share === undefined || canLimit()) results.push(await measure(scenario));
  else print(`\n${scenario.name}: not measured, no control group can be made here`);
}
await upstream.stop();
if (process.argv[3] !== undefined) {
  writeFileSync(process.argv[3], `${JSON.stringify({ machine, results }, null, 2)}\n`);
}

async function measure(scenario) {
  const { name, path, kind, connections, share } = scenario;
  const payload = PAYLOADS.find((one) => one.path === path);
  if (payload === undefined) throw new Error(`no payload has the path ${path}`);
  print(`\n${name}, ${connections} connections`);
  const hosts = [];
  for (const host of HOSTS) {
    const running = await startModgate({
      dist,
      kind,
      upstream: upstream.url,
      args: [...host.args, ...NO_SHEDDING],
      core: BOTH_CORES,
    });
    hosts.push({ ...host, running, rounds: [] });
  }
  for (const { running } of hosts) {
    await load(running, payload, { ...scenario, thinkMs: 0 }, WARM_UP_SECONDS);
  }
  const unlimit = share === undefined ? [] : hosts.map(({ running }) => limitWorkers(running, share));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const host of hosts) {
      host.rounds.push(await measureRound(host.running, payload, scenario));
    }
  }
  for (const { running } of hosts) await running.stop();
  for (const end of unlimit) end();
  return report(name, hosts);
}

/** The serving processes: the workers, or the host itself without workers. */
function limitWorkers({ pid }, share) {
  const [primary, ...workers] = listTree(pid);
  return limitEach(workers.length === 0 ? [primary] : workers, share);
}

async function measureRound(running, payload, scenario) {
  const before = readCpu(running.pid);
  const { requests, seconds, failed, p99Ms } = await load(
    running,
    payload,
    scenario,
    ROUND_SECONDS,
  );
  const after = readCpu(running.pid);
  if (failed > 0) throw new Error(`${failed} requests failed`);
  const used = [...after].map(([pid, cpu]) => cpu - (before.get(pid) ?? 0));
  const total = used.reduce((sum, one) => sum + one, 0);
  return {
    perSecond: requests / seconds,
    cpuMicroseconds: total / requests,
    cores: total / seconds / 1e6,
    // The first is the parent of the others.
    primaryShare: used.length > 1 ? used[0] / total : 0,
    p99Ms,
  };
}

function load({ url, headers }, { path }, { connections, thinkMs }, seconds) {
  return applyLoad({ url: url + path, headers, bodyFile: null, connections, seconds, thinkMs });
}

function readCpu(pid) {
  return new Map(listTree(pid).map((one) => [one, readOwnCpuMicroseconds(one)]));
}

function report(scenario, hosts) {
  const figures = hosts.map(({ name, rounds }) => ({
    name,
    perSecond: summarise(rounds.map((one) => one.perSecond)),
    cpuMicroseconds: summarise(rounds.map((one) => one.cpuMicroseconds)),
    cores: summarise(rounds.map((one) => one.cores)),
    primaryShare: summarise(rounds.map((one) => one.primaryShare)),
    p99Ms: summarise(rounds.map((one) => one.p99Ms)),
  }));
  for (const { name, perSecond, cpuMicroseconds, cores, primaryShare, p99Ms } of figures) {
    print(
      `${name.padEnd(12)} ${format(perSecond)} req/s · ${format(cpuMicroseconds)} µs CPU a request · ` +
        `${cores.median} cores · primary ${round(100 * primaryShare.median)} % · p99 ${p99Ms.median} ms`,
    );
  }
  const [, one, two] = figures;
  print(`req/s, 2 workers to 1: ${round(two.perSecond.median / one.perSecond.median)}`);
  const growth = two.cpuMicroseconds.median / one.cpuMicroseconds.median;
  print(`CPU a request, 2 workers to 1: ${round(growth)}; two cores then serve ${round(2 / growth)} times as much`);
  return { scenario, figures };
}

function format({ median, min, max }) {
  return `${median} (${min} to ${max})`;
}

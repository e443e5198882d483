// Ten hosts behind haproxy, on real PostgreSQL and Redis, that lose something under load; rates over all of them; and
// releases that they follow under load.
// node bench/fleet.mjs [--hosts N] [scenario…]        default: ten hosts, all scenarios
// The scenarios: restart, store, redis, kill, rate, cost, publish, rollback, canary, quiet.
// MODGATE_TEST_POSTGRES and MODGATE_TEST_REDIS name the servers; haproxy and wrk must be installed.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import {
  ask,
  createFolder,
  freePort,
  ITEMS,
  readJson,
  startHaproxy,
  startHost,
  startLoad,
  startProvider,
  startProxy,
  TOKEN,
  waitUntil,
} from './parts/fleet-parts.mjs';
import { createReleaseScenarios } from './parts/fleet-releases.mjs';

const { values: options, positionals } = parseArgs({
  options: { hosts: { type: 'string', default: '10' } },
  allowPositionals: true,
});
const HOSTS = Number(options.hosts);
const CUT_MS = 20_000;
const CALM_MS = 5000;
const LIMIT = 1000;
/** A limit that is never reached. */
const PLENTY = 100_000;
const RATE_SECONDS = 20;
const SCHEMA = `modgate_bench_${process.pid}`;
const POSTGRES = process.env.MODGATE_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/test';
const REDIS = process.env.MODGATE_TEST_REDIS ?? 'redis://127.0.0.1:6379';

const print = (scenario, figures) =>
  process.stdout.write(`${JSON.stringify({ scenario, ...figures })}\n`);

const provider = await startProvider();
const store = await startProxy(new URL(POSTGRES).hostname, Number(new URL(POSTGRES).port || 5432));
const redis = await startProxy(new URL(REDIS).hostname, Number(new URL(REDIS).port || 6379));
const { folder, remove } = createFolder(provider.url, {
  crm: {},
  shared: { rate: { per_second: LIMIT, burst: LIMIT / 10, shared: true } },
  local: { rate: { per_second: PLENTY, burst: PLENTY } },
  asked: { rate: { per_second: PLENTY, burst: PLENTY, shared: true } },
});
const storeUrl = new URL(POSTGRES);
storeUrl.host = `127.0.0.1:${store.port}`;
storeUrl.searchParams.set('schema', SCHEMA);
const args = [
  ...['--fleet', `bench-${process.pid}`, '--store', storeUrl.href, '--drain-delay-ms', '2000'],
  ...['--redis', `redis://127.0.0.1:${redis.port}`],
];
let hosts = [];
let modules = '';
const start = async (index, port) => {
  hosts[index] = await startHost(folder, `host-${index}`, port, ['--modules', modules, ...args]);
};
const agreement = (among = hosts) =>
  waitUntil('agreement', async () => {
    const { agreed, hosts: all } = await readJson(`${among[0].url}/fleet`).catch(() => ({}));
    return agreed && all.filter(({ state }) => state === 'ready').length === among.length;
  });

const SCENARIOS = {
  /** One host after the other stops in order and starts again. */
  restart: async () => {
    const load = startLoad(balanced);
    const began = performance.now();
    for (let index = 0; index < HOSTS; index += 1) {
      const { port } = hosts[index];
      await hosts[index].stop();
      await start(index, port);
      await pause(1000);
    }
    print('restart', { ...(await load.stop()), seconds: seconds(began) });
  },
  /** All hosts lose the store at once. */
  store: async () => {
    await agreement();
    const load = startLoad(balanced);
    await pause(CALM_MS);
    await store.cut();
    await pause(CUT_MS);
    await store.restore();
    const restored = performance.now();
    await agreement();
    const agreedAfter = seconds(restored);
    await pause(CALM_MS);
    print('store', { ...(await load.stop()), agreed_after_s: agreedAfter });
  },
  redis: async () => {
    const load = startLoad(balanced);
    await pause(CALM_MS);
    await redis.cut();
    await pause(CUT_MS);
    await redis.restore();
    await pause(CALM_MS);
    print('redis', await load.stop());
  },
  /** Three hosts end without a word. */
  kill: async () => {
    await agreement();
    const load = startLoad(balanced);
    await pause(CALM_MS);
    const killed = performance.now();
    const gone = hosts.slice(HOSTS - 3);
    await Promise.all(gone.map((host) => host.stop('SIGKILL')));
    await waitUntil('three lost hosts', async () => {
      const { hosts: all } = await readJson(`${hosts[0].url}/fleet`);
      return all.filter(({ state }) => state === 'lost').length === gone.length;
    });
    const lostAfter = seconds(killed);
    for (const { name, port } of gone) await start(Number(name.split('-')[1]), port);
    await agreement();
    print('kill', { ...(await load.stop()), lost_after_s: lostAfter });
  },
  /** A shared limit of 1,000 a second, with Redis and without. */
  rate: async () => {
    print('rate', { limit: LIMIT, ...(await readAdmitted()) });
    await redis.cut();
    await pause(2000);
    print('rate without redis', { limit: LIMIT, ...(await readAdmitted()) });
    await redis.restore();
    await pause(4000);
  },
  /** Against one host: no limit, a local one, and a shared one. */
  cost: async () => {
    for (let round = 0; round < 3; round += 1) {
      for (const module of ['crm', 'local', 'asked']) {
        const { perSecond, latency } = await runWrk(hosts[0].port, module, 5, 4);
        print('cost', { module, per_second: Math.round(perSecond), mean_latency: latency });
      }
    }
  },
};

const seconds = (since) => Number(((performance.now() - since) / 1000).toFixed(1));

/** Not synchronous: the provider and the proxies are in this process. */
async function runWrk(port, module, duration, connections) {
  const url = `http://127.0.0.1:${port}${ITEMS.replace('crm', module)}`;
  const options = ['-t1', `-c${connections}`, `-d${duration}s`, '-H', `authorization: Bearer ${TOKEN}`];
  const { stdout: text } = await promisify(execFile)('wrk', [...options, url]);
  const read = (pattern) => Number(pattern.exec(text)?.[1] ?? 0);
  const requests = read(/(\d+) requests in/);
  return {
    ...{ requests, seconds: read(/requests in ([\d.]+)s/) },
    rejected: read(/Non-2xx or 3xx responses: (\d+)/),
    perSecond: read(/Requests\/sec:\s+([\d.]+)/),
    latency: /Latency\s+(\S+)/.exec(text)?.[1],
  };
}

async function readAdmitted() {
  const { requests, rejected, seconds: took } = await runWrk(balanced, 'shared', RATE_SECONDS, 64);
  const admitted = (requests - rejected) / took;
  return { offered: Math.round(requests / took), admitted: Math.round(admitted) };
}

/** That of the guide, for ten hosts. */
function readConfiguration(ports) {
  const [, block] = /```haproxy\n([\s\S]*?)```/.exec(readFileSync('docs/operate/fleet.md', 'utf8'));
  const servers = ports.map((port, index) => `  server host-${index} 127.0.0.1:${port}\n`).join('');
  return block
    .replace('127.0.0.1:3000', `127.0.0.1:${balanced}`)
    .replace(/(?: {2}server .*\n)+/, servers);
}

const balanced = await freePort();
const releases = createReleaseScenarios({
  ...{ balanced, provider: provider.url, count: HOSTS, print },
  listHosts: () => hosts,
});
const known = [...Object.keys(SCENARIOS), ...Object.keys(releases.scenarios)];
const chosen = positionals.length > 0 ? positionals : known;

/** Starts all hosts with these modules, and runs scenarios one after the other. */
async function runAll(scenarios, source, publishFirst = async () => {}) {
  const names = chosen.filter((name) => Object.hasOwn(scenarios, name));
  if (names.length === 0) return;
  modules = source;
  let haproxy;
  try {
    for (let index = 0; index < HOSTS; index += 1) await start(index, await freePort());
    haproxy = await startHaproxy(folder, readConfiguration(hosts.map(({ port }) => port)));
    await waitUntil('haproxy', async () => (await ask(balanced, '/readyz').catch(() => 0)) === 200);
    await publishFirst();
    await waitUntil('modules', async () => (await ask(balanced, ITEMS).catch(() => 0)) === 200);
    await agreement();
    for (const name of names) await scenarios[name]();
  } finally {
    await Promise.all(hosts.map((host) => host.stop('SIGKILL')));
    hosts = [];
    haproxy?.stop();
  }
}

try {
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`scenario ${unknown}: expected ${known.join(', ')}`);
  await runAll(SCENARIOS, join(folder, 'modules.d'));
  await runAll(releases.scenarios, 'store:', releases.publishFirst);
} finally {
  provider.close();
  await store.cut();
  await redis.cut();
  const client = new pg.Client(POSTGRES);
  await client.connect();
  await client.query(`drop schema if exists ${SCHEMA} cascade`);
  await client.end();
  remove();
}

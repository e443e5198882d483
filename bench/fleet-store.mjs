// How many hosts one PostgreSQL serves, and what breaks first: hosts are simulated by their stores alone, each with its
// connections, its poll and its heartbeat.
// node bench/fleet-store.mjs [number of hosts…]       default 10 30 60 100
// MODGATE_TEST_POSTGRES names the server, perhaps a pooler; MODGATE_BENCH_DIRECT the server behind a pooler.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { createStore } from '../dist/core/store/open-store.js';

const BEAT_MS = 2000;
const LIST_EVERY = 2;
/** The beats of hosts are spread over time. */
const STAGGER_MS = 137;
const SECONDS = 15;
const OPEN_MS = 20_000;
const POSTGRES = process.env.MODGATE_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/test';
const SCHEMA = `modgate_bench_${process.pid}`;
const log = { debug() {}, info() {}, warn() {}, error() {} };

const url = new URL(POSTGRES);
url.searchParams.set('schema', SCHEMA);
const admin = new pg.Client(process.env.MODGATE_BENCH_DIRECT ?? POSTGRES);
await admin.connect();
const numbers = process.argv.slice(2).map(Number);
try {
  for (const count of numbers.length > 0 ? numbers : [10, 30, 60, 100]) await measure(count);
} finally {
  await admin.query(`drop schema if exists ${SCHEMA} cascade`);
  await admin.end();
}

async function measure(count) {
  const stores = [];
  for (let index = 0; index < count; index += 1) {
    const store = createStore({ url: url.href, stateDir: '', keys: null, log });
    stores.push(store);
    await store.start(OPEN_MS);
  }
  const times = [];
  const failures = new Map();
  const before = await readTransactions();
  const began = performance.now();
  const beats = stores.map((store, index) => beat(store, index, times, failures, began));
  await pause((SECONDS * 1000) / 2);
  const { rows } = await admin.query(
    `select count(*)::int as connections from pg_stat_activity where application_name = 'modgate'`,
  );
  await Promise.all(beats);
  const seconds = (performance.now() - began) / 1000;
  const transactions = (await readTransactions()) - before;
  times.sort((a, b) => a - b);
  const at = (share) => Number((times[Math.floor(times.length * share)] ?? 0).toFixed(1));
  const figures = {
    hosts: count,
    ...{ open: stores.filter(({ unavailable }) => unavailable === null).length },
    connections: rows[0].connections,
    transactions_per_second: Math.round(transactions / seconds),
    ...{ beat_p50_ms: at(0.5), beat_p99_ms: at(0.99) },
    failures: Object.fromEntries(failures),
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  await Promise.all(stores.map((store) => store.close()));
}

async function beat({ fleetHosts }, index, times, failures, began) {
  const id = `host_${randomUUID()}`;
  await pause((index * STAGGER_MS) % BEAT_MS);
  for (let beats = 0; performance.now() - began < SECONDS * 1000; beats += 1) {
    const start = performance.now();
    try {
      await fleetHosts.beat({
        ...{ fleet: 'bench', id, version: '0.1.0', address: 'http://127.0.0.1', workers: 1 },
        ...{ digest: 'sha256:0', state: 'ready', rejected: [], serves: null },
      });
      if (beats % LIST_EVERY === 0) await fleetHosts.list('bench');
      times.push(performance.now() - start);
    } catch ({ code }) {
      failures.set(code, (failures.get(code) ?? 0) + 1);
    }
    await pause(Math.max(0, BEAT_MS - (performance.now() - start)));
  }
}

/** Of the whole server: run it on one that nothing else uses. */
async function readTransactions() {
  const { rows } = await admin.query(
    'select sum(xact_commit + xact_rollback)::int as total from pg_stat_database',
  );
  return rows[0].total;
}

// Measures the cost of metrics and records per request: node dist/test/support/observability/harness.js

import { Counter, Registry } from 'prom-client';
import { keepCall } from '../../../core/observability/completed-request.js';
import { createObservability } from '../../../core/observability/observability.js';
import { createSqliteBackend } from '../../store/backend.js';
import { createEnded, createStored } from './completed.js';

const ROUNDS = 500_000;
const MICROSECONDS_PER_MS = 1000;
const BATCHES = 300;
const BATCH = 100;

const ended = createEnded(1);
Object.assign(ended.facts, {
  module: 'shop',
  route: '/items/{id}',
  provider_ms: 1.234,
  attempts: 1,
});
const host = {
  list: () => [],
  rejectedActors: () => 0,
  reloads: { success: 0, failure: 0, lastAt: new Date() },
};
const { observe, metrics, calls } = createObservability(host);
const counter = new Counter({
  name: 'requests_total',
  help: 'For comparison.',
  labelNames: ['module', 'method', 'route', 'status'],
  registers: [new Registry()],
});
const child = counter.labels('shop', 'GET', '/items/{id}', '200');

for (const round of ['warm-up', 'measured']) {
  measure(`${round}: metrics`, () => metrics.requests.count(ended));
  measure(`${round}: call record`, () => calls.add(keepCall(ended), null));
  measure(`${round}: both, as the host does`, () => observe(ended));
  measure(`${round}: one counter of prom-client, for comparison`, () => child.inc());
}
await measureArchive();

/** How long a batch of calls blocks the event loop, since SQLite is synchronous. */
async function measureArchive(): Promise<void> {
  const backend = createSqliteBackend();
  const store = await backend.open();
  const holds: number[] = [];
  const startedAt = performance.now();
  let turnedAt = startedAt;
  const turn = () => {
    const now = performance.now();
    holds.push(now - turnedAt);
    turnedAt = now;
  };
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const calls = Array.from({ length: BATCH }, (_, index) =>
      createStored(batch * BATCH + index, Date.now()),
    );
    const timer = setImmediate(function again() {
      turn();
      immediate = setImmediate(again);
    });
    let immediate = timer;
    turnedAt = performance.now();
    await store.calls.append(calls);
    turn();
    clearImmediate(immediate);
  }
  const total = performance.now() - startedAt;
  const longest = holds.filter((ms) => ms > 1).toSorted((a, b) => a - b);
  const at = (share: number) => longest[Math.floor(longest.length * share)]?.toFixed(1) ?? '-';
  const rate = Math.round((BATCHES * BATCH * MICROSECONDS_PER_MS) / total);
  process.stdout.write(
    `archive: ${rate} calls a second; a batch of ${BATCH} holds the loop ${at(0.5)} ms, p99 ${at(0.99)} ms\n`,
  );
  const prunedAt = performance.now();
  await store.calls.prune({ maxCalls: (BATCHES * BATCH) / 2, since: 0 });
  process.stdout.write(
    `archive: half removed in ${(performance.now() - prunedAt).toFixed(0)} ms\n`,
  );
  await backend.dispose();
}

function measure(name: string, work: () => void): void {
  const { user, system } = process.cpuUsage();
  const startedAt = performance.now();
  for (let round = 0; round < ROUNDS; round += 1) work();
  const wall = ((performance.now() - startedAt) * MICROSECONDS_PER_MS) / ROUNDS;
  const spent = process.cpuUsage({ user, system });
  const cpu = (spent.user + spent.system) / ROUNDS;
  process.stdout.write(`${name}: ${wall.toFixed(3)} µs, CPU ${cpu.toFixed(3)} µs\n`);
}

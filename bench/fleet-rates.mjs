// A limit of 1,000 a second over ten processes, as each host of a fleet counts it: with Redis, and without. The
// processes offer three times as much, without HTTP, which a small machine could not.
// node bench/fleet-rates.mjs       MODGATE_TEST_REDIS names the server.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LocalRates } from '../dist/core/provider/rate-limiter.js';
import { RedisRates } from '../dist/core/provider/redis-rates.js';
import { startProxy } from './parts/fleet-parts.mjs';

const PROCESSES = 10;
const LIMITS = { perSecond: 1000, burst: 100 };
const OFFERED = (3 * LIMITS.perSecond) / PROCESSES;
const SECONDS = 20;
const TURN_MS = 10;
const REDIS = process.env.MODGATE_TEST_REDIS ?? 'redis://127.0.0.1:6379';

if (process.send) await offer();
else await measure();

/** One process of a host, which is asked for `OFFERED` calls a second. */
async function offer() {
  let losses = 0;
  const log = { debug() {}, info() {}, warn: () => (losses += 1), error() {} };
  const local = new LocalRates();
  const rates = await RedisRates.open({ url: process.argv[2], fleet: process.argv[3], local, log });
  const limiter = rates.create('module bench', LIMITS, 'share');
  process.on('message', async () => {
    const counts = { admitted: 0, offered: 0 };
    const began = performance.now();
    const asked = [];
    for (let elapsed = 0; elapsed < SECONDS * 1000; elapsed = performance.now() - began) {
      while (counts.offered < (elapsed / 1000) * OFFERED) {
        counts.offered += 1;
        asked.push(Promise.resolve(limiter.take('')).then((wait) => (counts.admitted += wait === 0)));
      }
      await pause(TURN_MS);
    }
    await Promise.all(asked);
    process.send({ ...counts, losses, seconds: (performance.now() - began) / 1000 });
  });
  process.send('ready');
}

async function measure() {
  const proxy = await startProxy(new URL(REDIS).hostname, Number(new URL(REDIS).port || 6379));
  const url = `redis://127.0.0.1:${proxy.port}`;
  const file = fileURLToPath(import.meta.url);
  const children = Array.from({ length: PROCESSES }, () => fork(file, [url, `bench-${process.pid}`]));
  await Promise.all(children.map((child) => once(child, 'message')));
  // A process knows the others after one more announcement of each.
  await pause(5000);
  const run = async (what) => {
    const answers = children.map((child) => once(child, 'message'));
    for (const child of children) child.send('go');
    const all = (await Promise.all(answers)).map(([counts]) => counts);
    const sum = (name) => all.reduce((total, counts) => total + counts[name], 0);
    const seconds = sum('seconds') / PROCESSES;
    const perSecond = (name) => Math.round(sum(name) / seconds);
    // The burst is admitted once, beyond the rate.
    const admitted = Math.round((sum('admitted') - LIMITS.burst) / seconds);
    const line = { what, limit: LIMITS.perSecond, offered: perSecond('offered'), admitted, lost: sum('losses') };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  };
  await run('with Redis');
  await proxy.cut();
  await pause(2000);
  await run('without Redis');
  for (const child of children) child.kill();
}

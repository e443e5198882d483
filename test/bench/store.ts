import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../core/store/store.js';
import { createPostgresBackend, createSqliteBackend } from '../store/backend.js';
import { createKey, DRAFT, write } from '../store/drafts.js';

/** Prints what the store does a second: `node dist/test/bench/store.js [postgres-url]`. */
const ROUND_MS = 3000;
const FIELDS = 20;

interface Figure {
  readonly what: string;
  readonly perSecond: number;
  readonly meanUs: number;
  readonly loopDelayMs: number;
}

async function measure(
  subject: string,
  parallel: number,
  work: (n: number) => Promise<unknown>,
): Promise<Figure> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const started = performance.now();
  let count = 0;
  const run = async () => {
    while (performance.now() - started < ROUND_MS) {
      await work(count++);
      // Reads of SQLite never wait: as from callers, there is a turn of the event loop between two.
      await nextTurn();
    }
  };
  await Promise.all(Array.from({ length: parallel }, run));
  const elapsedMs = performance.now() - started;
  loop.disable();
  return {
    what: subject,
    perSecond: Math.round((count * 1000) / elapsedMs),
    meanUs: Math.round((elapsedMs * 1000 * parallel) / count),
    loopDelayMs: Math.round(loop.percentile(99) / 1e4) / 100,
  };
}

async function measureStore(store: Store): Promise<Figure[]> {
  for (let n = 0; n < FIELDS; n += 1) await write(store, `k${n}`, n, { sensitive: n % 2 === 0 });
  const read = () => store.config.read('crm');
  const put = (n: number) => write(store, `k${n % FIELDS}`, n, { sensitive: n % 2 === 0 });
  const figures = [
    await measure(`read a module of ${FIELDS} fields, half encrypted, one at a time`, 1, read),
    await measure(`read a module of ${FIELDS} fields, half encrypted, 16 at a time`, 16, read),
    await measure('write a value and its audit row, one at a time', 1, put),
    await measure('write a value and its audit row, 16 at a time', 16, put),
    await measure('append an audit row, one at a time', 1, () => store.audit.append(DRAFT)),
  ];
  const started = performance.now();
  const { rows } = await store.audit.verify();
  const seconds = (performance.now() - started) / 1000;
  const perSecond = Math.round(rows / seconds);
  const meanUs = Math.round((seconds * 1e6) / rows);
  figures.push({ what: `verify ${rows} audit rows`, perSecond, meanUs, loopDelayMs: 0 });
  return figures;
}

const [, , url] = process.argv;
for (const [name, backend] of [
  ['SQLite', createSqliteBackend()],
  ['PostgreSQL', createPostgresBackend(url)],
] as const) {
  try {
    const store = await backend.open(createKey());
    if (store.unavailable !== null) throw store.unavailable;
    process.stdout.write(`${name}, Node.js ${process.version}\n`);
    for (const { what, perSecond, meanUs, loopDelayMs } of await measureStore(store)) {
      const figures = `${perSecond}/s  ${meanUs} µs  loop delay p99 ${loopDelayMs} ms`;
      process.stdout.write(`  ${what.padEnd(64)} ${figures}\n`);
    }
  } catch (error) {
    process.stdout.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  } finally {
    await backend.dispose().catch(() => {});
  }
}

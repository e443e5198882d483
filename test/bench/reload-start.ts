import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { describeVersion, moduleName } from '../support/reload/many-reloads.js';
import { type ModgateProcess, startModgate } from '../support/start-host.js';
import { median, print } from './reload-report.js';

/**
 * Measures the time from the spawn to `listening`, and the resident memory some seconds later:
 * `node dist/test/bench/reload-start.js [--settle SECONDS] [runs] [modules…]`. The default is 5 s.
 * V8 releases the memory of the start within 120 s.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { settle: { type: 'string', default: '5' } },
});
const [runs = 3, ...counts] = positionals.map(Number);
const sizes = counts.length > 0 ? counts : [1, 1000, 10_000];
const SETTLE_MS = Number(values.settle) * 1000;
/** USER_HZ of Linux. */
const MS_PER_TICK = 10;

let residentOfOne: number | null = null;
for (const modules of sizes) {
  const starts: Awaited<ReturnType<typeof measure>>[] = [];
  for (let run = 0; run < runs; run += 1) starts.push(await measure(modules));
  const of = (key: 'wallMs' | 'cpuMs' | 'residentKib') =>
    median(starts.map((sample) => sample[key]));
  const residentKib = of('residentKib');
  residentOfOne ??= residentKib;
  const each = modules > 1 ? (residentKib - residentOfOne) / (modules - 1) : 0;
  print(
    `${modules} modules: listening after ${Math.round(of('wallMs'))} ms (${of('cpuMs')} ms CPU), resident ${(residentKib / 1024).toFixed(1)} MiB${modules > 1 ? `, ${each.toFixed(1)} KiB a further module` : ''}`,
  );
}

async function measure(modules: number) {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-bench-'));
  const descriptors = join(folder, 'modules.d');
  mkdirSync(descriptors);
  for (let index = 0; index < modules; index += 1) {
    const name = moduleName(index);
    const text = JSON.stringify(describeVersion(name, 'http://127.0.0.1:9', 1));
    writeFileSync(join(descriptors, `${name}.json`), text);
  }
  const startedAt = performance.now();
  const host = await startModgate([
    ...['serve', '--env', 'development', '--modules', descriptors],
    ...['--state', join(folder, 'state'), '--port', '0'],
  ]);
  const wallMs = performance.now() - startedAt;
  const cpuMs = readCpuMs(host);
  await pause(SETTLE_MS);
  const residentKib = readResidentKib(host);
  await host.kill();
  rmSync(folder, { recursive: true, force: true });
  return { wallMs, cpuMs, residentKib };
}

/** User and system time of all threads. */
function readCpuMs({ pid }: ModgateProcess): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

function readResidentKib({ pid }: ModgateProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
}

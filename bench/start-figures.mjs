import { setTimeout as pause } from 'node:timers/promises';
import { startModgate } from './modgate.mjs';
import { readResidentKib } from './process-figures.mjs';
import { summarise } from './statistics.mjs';

const STARTS = 5;
const MANY_MODULES = 1000;
// Start-up leaves garbage, and pages that V8 gives back when it has been idle for a while.
const SETTLE_MS = 5_000;

/**
 * From the spawn of the process to the line `listening`, and what is resident when it has settled, without
 * a request having been made.
 * @param {{ dist: string, report: (line: string) => void }} options
 */
export async function measureStart({ dist, report }) {
  const one = await measureStarts(dist, 1);
  const many = await measureStarts(dist, MANY_MODULES);
  const perModuleKib =
    ((many.residentMib.median - one.residentMib.median) * 1024) / (MANY_MODULES - 1);
  report(
    `start to listening: ${one.startMs.median} ms with 1 module, ${many.startMs.median} ms with ${MANY_MODULES}`,
  );
  report(
    `resident, idle: ${one.residentMib.median} MiB with 1 module; ${perModuleKib.toFixed(1)} KiB a further module`,
  );
  return { one, many: { modules: MANY_MODULES, ...many }, perModuleKib };
}

async function measureStarts(dist, modules) {
  const starts = [];
  for (let count = 0; count < STARTS; count += 1) {
    const host = await startModgate({ dist, modules, upstream: 'http://127.0.0.1:9' });
    await pause(SETTLE_MS);
    starts.push({ startMs: host.startMs, residentMib: readResidentKib(host.pid) / 1024 });
    await host.stop();
  }
  return {
    startMs: summarise(starts.map(({ startMs }) => startMs)),
    residentMib: summarise(starts.map(({ residentMib }) => residentMib)),
  };
}

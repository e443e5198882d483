import { setTimeout as pause } from 'node:timers/promises';
import { startModgate } from './modgate.mjs';
import { readResidentKib } from './process-figures.mjs';
import { summarise } from './statistics.mjs';

const STARTS = 5;
const RESIDENT_HOSTS = 3;
const MANY_MODULES = 1000;
// A start leaves garbage, and pages that V8 gives back when the host has been idle for 40 to 100 seconds.
const SETTLE_MS = 120_000;

/**
 * From the spawn of the process to the line `listening`, and what is resident when it has settled, without
 * a request having been made.
 * @param {{ dist: string, report: (line: string) => void }} options
 */
export async function measureStart({ dist, report }) {
  const startMs = { one: await measureStarts(dist, 1), many: await measureStarts(dist, MANY_MODULES) };
  report(
    `start to listening: ${startMs.one.median} ms with 1 module, ${startMs.many.median} ms with ${MANY_MODULES}`,
  );
  const [ofOne, ofMany] = await Promise.all([measureResident(dist, 1), measureResident(dist, MANY_MODULES)]);
  const perModuleKib = ((ofMany.median - ofOne.median) * 1024) / (MANY_MODULES - 1);
  report(
    `resident, idle: ${ofOne.median} MiB with 1 module; ${perModuleKib.toFixed(1)} KiB a further module`,
  );
  return {
    one: { startMs: startMs.one, residentMib: ofOne },
    many: { modules: MANY_MODULES, startMs: startMs.many, residentMib: ofMany },
    perModuleKib,
  };
}

async function measureStarts(dist, modules) {
  const starts = [];
  for (let count = 0; count < STARTS; count += 1) {
    const host = await startIdle(dist, modules);
    starts.push(host.startMs);
    await host.stop();
  }
  return summarise(starts);
}

/** MiB, of hosts that are idle side by side. */
async function measureResident(dist, modules) {
  const hosts = [];
  for (let count = 0; count < RESIDENT_HOSTS; count += 1) hosts.push(await startIdle(dist, modules));
  await pause(SETTLE_MS);
  const resident = hosts.map(({ pid }) => readResidentKib(pid) / 1024);
  await Promise.all(hosts.map((host) => host.stop()));
  return summarise(resident);
}

function startIdle(dist, modules) {
  return startModgate({ dist, modules, upstream: 'http://127.0.0.1:9' });
}

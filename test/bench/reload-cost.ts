import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../support/http/wait-until.js';
import { describeVersion, moduleName } from '../support/reload/many-reloads.js';
import { createProbe } from '../support/reload/probed-process.js';
import { startReloadProcess } from '../support/reload/reload-host.js';
import { median, percentile, print, toMs } from './reload-report.js';

/**
 * Measures the event loop time of a reload of one module: `node dist/test/bench/reload-cost.js
 * [modules] [reloads]`.
 */
const [modules = 1000, reloads = 30] = process.argv.slice(2).map(Number);
const START_MS = 3000;

const probe = createProbe();
const host = await startReloadProcess(
  ({ url }) =>
    Object.fromEntries(
      Array.from({ length: modules }, (_, index) => [
        `${moduleName(index)}.json`,
        describeVersion(moduleName(index), url, 0),
      ]),
    ),
  [],
  probe.env,
);
const { pid } = host.running;
const name = moduleName(Math.floor(modules / 2));
await pause(START_MS);
await probe.read(pid);

const quiet: number[] = [];
const quietDelays: number[] = [];
for (let round = 0; round < 5; round += 1) {
  await pause(2000);
  const { busyMs, elapsedMs, longestDelayMs } = await probe.read(pid);
  quiet.push(busyMs / elapsedMs);
  quietDelays.push(longestDelayMs);
}

const busy: number[] = [];
const delays: number[] = [];
const followed: number[] = [];
for (let version = 1; version <= reloads; version += 1) {
  await pause(50);
  await probe.read(pid);
  await pause(20);
  const writtenAt = performance.now();
  host.write(`${name}.json`, describeVersion(name, host.provider.url, version));
  const line = () =>
    host.running
      .logs()
      .filter((entry) => entry['msg'] === 'module changed' && entry['module'] === name);
  const before = line().length;
  await waitUntil('it is followed', () => line().length > before || line().length > version);
  followed.push(performance.now() - writtenAt);
  // All that comes of it: the files that are written, what is closed, and the look after it.
  await pause(300);
  const { busyMs, longestDelayMs } = await probe.read(pid);
  busy.push(busyMs);
  delays.push(longestDelayMs);
}
await host.close();
probe.remove();

print(`${modules} modules, ${reloads} reloads of one of them`);
print(
  `without a change: busy ${(median(quiet) * 100).toFixed(1)} % of the time, longest delay ${toMs(Math.max(...quietDelays))}`,
);
print(
  `a reload: ${toMs(median(busy))} of event-loop time (p90 ${toMs(percentile(busy, 0.9))}), longest delay ${toMs(median(delays))} (p90 ${toMs(percentile(delays, 0.9))})`,
);
print(`from the write to the line in the log: ${toMs(median(followed))}`);

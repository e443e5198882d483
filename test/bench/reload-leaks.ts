import {
  describeVersion,
  MODULES_AT_ONCE,
  moduleName,
  reloadAll,
} from '../support/reload/many-reloads.js';
import { createProbe } from '../support/reload/probed-process.js';
import { startReloadProcess } from '../support/reload/reload-host.js';
import { print, toMib } from './reload-report.js';

/**
 * Measures the memory of a host after many reloads: `node dist/test/bench/reload-leaks.js
 * [reloads]`.
 */
const [reloads = 1000] = process.argv.slice(2).map(Number);
const LINES = 10;
const WARM_UP_CALLS = 12_000;
const PARALLEL_CALLS = 50;

const probe = createProbe();
const names = Array.from({ length: MODULES_AT_ONCE }, (_, index) => moduleName(index));
const host = await startReloadProcess(
  ({ url }) =>
    Object.fromEntries(names.map((name) => [`${name}.json`, describeVersion(name, url, 0)])),
  ['--log-success-sample', '0'],
  probe.env,
);
const rounds = Math.ceil(reloads / MODULES_AT_ONCE);
const every = Math.max(1, Math.floor(rounds / LINES));
// The host keeps records of the last calls: there is no telling what leaks before they are full.
for (let call = 0; call < WARM_UP_CALLS; call += PARALLEL_CALLS) {
  const batch = Array.from({ length: PARALLEL_CALLS }, () => host.get(names[0] ?? '', '/items'));
  await Promise.all(batch);
  host.provider.reset();
}
await tell(0);
for (let version = 1; version <= rounds; version += 1) {
  await reloadAll(host, MODULES_AT_ONCE, version);
  host.provider.reset();
  if (version % every === 0) await tell(version * MODULES_AT_ONCE);
}
await host.close();
probe.remove();

async function tell(done: number): Promise<void> {
  const figures = await probe.read(host.running.pid);
  const resources = Object.entries(figures.resources).map(([name, count]) => `${name} ${count}`);
  print(
    `${String(done).padStart(6)} reloads: heap ${toMib(figures.heapBytes)}, resident ${toMib(figures.residentBytes)}, ${figures.descriptors} descriptors, ${resources.join(', ')}`,
  );
}

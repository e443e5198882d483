import { setTimeout as pause } from 'node:timers/promises';
import { churn } from '../support/reload/churn.js';
import { ConstantLoad, type LoadFigures } from '../support/reload/constant-load.js';
import { describeVersion, moduleName } from '../support/reload/many-reloads.js';
import { startReloadProcess } from '../support/reload/reload-host.js';
import { percentile, print, toMs } from './reload-report.js';

/**
 * Measures the effect of reloads on callers: `node dist/test/bench/reload-load.js [modules]
 * [seconds] [think-ms]`.
 */
const [modules = 500, seconds = 60, thinkMs = 0] = process.argv.slice(2).map(Number);
const CONNECTIONS = 64;
const WARM_UP_MS = 10_000;

const names = Array.from({ length: modules }, (_, index) => moduleName(index));
const host = await startReloadProcess(
  ({ url }) =>
    Object.fromEntries(names.map((name) => [`${name}.json`, describeVersion(name, url, 1)])),
  ['--log-success-sample', '0'],
);
const load = new ConstantLoad(host.running.url, names, CONNECTIONS, thinkMs);
const forget = setInterval(() => host.provider.reset(), 1000);
await pause(WARM_UP_MS);
load.take();
await pause(seconds * 1000);
const quiet = load.take();
const { done } = await churn(host, names.slice(0, Math.ceil(modules / 10)), seconds * 1000);
const during = load.take();
await pause(seconds * 1000);
const after = await load.stop();
clearInterval(forget);
await host.close();

print(`${modules} modules, ${CONNECTIONS} connections, ${seconds} s each`);
describe('quiet', quiet);
describe('reloads', during);
describe('quiet again', after);
print(`done: ${JSON.stringify(done)}`);
const quietP99 = (percentile(quiet.latencies, 0.99) + percentile(after.latencies, 0.99)) / 2;
print(`p99 during reloads / quiet: ${(percentile(during.latencies, 0.99) / quietP99).toFixed(2)}`);

function describe(phase: string, { requests, failed, latencies }: LoadFigures): void {
  const p50 = toMs(percentile(latencies, 0.5));
  const p99 = toMs(percentile(latencies, 0.99));
  const failures =
    [...failed].map(([subject, count]) => `${subject} ×${count}`).join(', ') || 'none';
  print(
    `${phase.padEnd(12)} ${Math.round(requests / seconds)} requests/s, p50 ${p50}, p99 ${p99}, failed: ${failures}`,
  );
}

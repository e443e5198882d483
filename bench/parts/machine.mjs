import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { loadGenerator } from './load.mjs';
import { canPin } from './pinned-process.mjs';

/** Describes what the figures depend on, apart from the code. */
export function describeMachine() {
  return {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    kernel: readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(),
    isPinned: canPin,
    load: loadGenerator,
    loadAverage: loadavg()[0],
    at: new Date().toISOString(),
  };
}

/** @param {ReturnType<typeof describeMachine>} machine */
export function formatMachine(machine) {
  return [
    `Node ${machine.node}, ${machine.cores} cores (${machine.cpu}), Linux ${machine.kernel}`,
    machine.isPinned
      ? 'host on core 0; load and upstream on core 1'
      : 'NOT PINNED (no taskset, or one core): do not compare these figures with others',
    machine.load === 'wrk'
      ? 'load by wrk'
      : 'load by autocannon, wrk not being installed: latencies and req/s are worse than with wrk',
    `load average before the start: ${machine.loadAverage.toFixed(2)}`,
  ].join('\n');
}

// CPU time of a request, quickly: under a minute, three systems, one scenario.
// node bench/quick.mjs [folder of the build, default dist]

import { describeMachine, formatMachine } from './parts/machine.mjs';
import { measureScenario } from './parts/measure-scenario.mjs';
import { PAYLOADS } from './parts/payloads.mjs';
import { pinSelf } from './parts/pinned-process.mjs';
import { round } from './parts/statistics.mjs';
import { SYSTEMS } from './parts/systems.mjs';

// CPU time per request falls during the first ten thousand requests.
const PACE = { rounds: 4, roundSeconds: 2, warmUpSeconds: 4 };
const NAMES = ['modgate', 'fastify-http-proxy', 'bare'];

const print = (line) => process.stdout.write(`${line}\n`);
const dist = process.argv[2] ?? 'dist';

pinSelf();
print(formatMachine(describeMachine()));
const { systems } = await measureScenario(
  {
    name: 'GET 100 B, 32 connections',
    payload: PAYLOADS[0],
    connections: 32,
    systems: SYSTEMS.filter(({ name }) => NAMES.includes(name)),
  },
  { dist, pace: PACE, report: print },
);
print('');
for (const [name, { cpuMicroseconds: cpu, isSound }] of Object.entries(systems)) {
  const note = isSound ? '' : '  NOT SOUND: see above';
  print(`${name.padEnd(20)} ${cpu.median} µs CPU a request (${cpu.min} to ${cpu.max})${note}`);
}
const median = (name) => systems[name].cpuMicroseconds.median;
for (const peer of NAMES.slice(1)) {
  print(`modgate / ${peer.padEnd(18)} ${round(median('modgate') / median(peer))}`);
}

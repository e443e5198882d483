// Builds side by side, in turns: node bench/compare.mjs BUILD[,raw][,hold=BYTES][,NODE FLAG…] … [--rounds N] [--seconds N]
// [--warm-up SECONDS] [--payload TEXT] [--think-ms N] [--peer NAME …]. For "is this change worth it": git worktree, build, compare.
import { parseArgs } from 'node:util';
import { measureScenario } from './parts/measure-scenario.mjs';
import { startModgate } from './parts/modgate.mjs';
import { PAYLOADS } from './parts/payloads.mjs';
import { pinSelf } from './parts/pinned-process.mjs';
import { round } from './parts/statistics.mjs';
import { SYSTEMS } from './parts/systems.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '2' },
    'warm-up': { type: 'string', default: '7' },
    payload: { type: 'string', default: 'GET 100 B' },
    peer: { type: 'string', multiple: true, default: [] },
    'think-ms': { type: 'string', default: '0' },
  },
});
const print = (line) => process.stdout.write(`${line}\n`);

pinSelf();
const builds = positionals.map((build) => {
  const [dist, ...flags] = build.split(',');
  const isRaw = flags.includes('raw');
  const hold = flags.find((flag) => flag.startsWith('hold='));
  const holdBytes = hold === undefined ? null : Number(hold.slice('hold='.length));
  const nodeFlags = flags.filter((flag) => flag !== 'raw' && flag !== hold);
  return {
    name: build,
    what: '',
    isEnveloped: !isRaw,
    isAvailable: () => true,
    start: ({ upstream }) =>
      startModgate({
        ...{ dist, upstream: upstream.url, nodeFlags },
        mode: isRaw ? 'raw' : 'envelope',
        holdBytes,
      }),
  };
});
const { systems } = await measureScenario(
  {
    name: values.payload,
    payload: PAYLOADS.find(({ name }) => name === values.payload),
    connections: 32,
    thinkMs: Number(values['think-ms']),
    systems: [...builds, ...SYSTEMS.filter(({ name }) => values.peer.includes(name))],
  },
  {
    dist: '',
    pace: {
      rounds: Number(values.rounds),
      roundSeconds: Number(values.seconds),
      warmUpSeconds: Number(values['warm-up']),
    },
    report: (line) => process.stderr.write(`${line}\n`),
  },
);
const [first] = Object.values(systems);
for (const [name, { cpuMicroseconds: cpu, p99Ms, peakMib }] of Object.entries(systems)) {
  const ratio = round(cpu.median / first.cpuMicroseconds.median);
  print(
    `${name.padEnd(40)} ${cpu.median} µs (${cpu.min} to ${cpu.max})  × ${ratio}  p99 ${p99Ms?.median} ms  peak ${peakMib?.median} MiB`,
  );
}

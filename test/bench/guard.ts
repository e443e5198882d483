/**
 * What the guard costs a call: `node dist/test/bench/guard.js [calls]`. The provider answers at once, so
 * what is left is the guard. CPU time of the process, since wall time says more about the machine's
 * other work; the median of several rounds. Subtract `no guard`, which makes the same call objects.
 */
import type { CheckedOutcome } from '../../core/provider/outcome.js';
import {
  createCall,
  createFakeModule,
  type FakeModuleOptions,
  ok,
} from '../support/provider/fake-module.js';

const CALLS = Number(process.argv[2] ?? 100_000);
const ROUNDS = 7;

const answer = Promise.resolve(ok());
const readBody = ({ pieces }: CheckedOutcome) => pieces;

const createGuarded = (options: FakeModuleOptions) => {
  const { guard } = createFakeModule({ ...options, invoke: () => answer, isForgetful: true });
  return () => guard.call(createCall(), readBody);
};

const endpoints = ['a', 'b', 'c'];
const subjects: Readonly<Record<string, { readonly width: number; call(): Promise<unknown> }>> = {
  'no guard': {
    width: 1,
    call: async () => {
      createCall();
      return (await answer).body;
    },
  },
  'one endpoint': { width: 1, call: createGuarded({}) },
  'one endpoint, 64 at a time': { width: 64, call: createGuarded({}) },
  'three endpoints in turn': { width: 1, call: createGuarded({ endpoints }) },
  'three endpoints by load': {
    width: 1,
    call: createGuarded({ endpoints, balancing: { strategy: 'least_in_flight' } }),
  },
  'queued, 64 at a time for 16 places': {
    width: 64,
    call: createGuarded({ limits: { concurrency: 16, queue: 64, queueMs: 60_000 } }),
  },
};

async function measure(call: () => Promise<unknown>, width: number): Promise<number> {
  const caller = async () => {
    for (let done = 0; done < CALLS / width; done += 1) await call();
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: width }, caller));
  // In microseconds.
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

for (const [title, { call, width }] of Object.entries(subjects)) {
  await measure(call, width);
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(call, width));
  rounds.sort((one, other) => one - other);
  const [least = 0] = rounds;
  const median = rounds[Math.floor(ROUNDS / 2)] ?? 0;
  console.log(`${title.padEnd(36)} ${median.toFixed(2)} µs a call (least ${least.toFixed(2)})`);
}

/**
 * Cost of the provider client per call: `node dist/test/bench/provider-client.js [calls]`. The provider
 * responds at once. CPU time of the process, the median of several rounds; subtract `no client`, which
 * creates the same call objects.
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

const createClientCall = (options: FakeModuleOptions) => {
  const { client } = createFakeModule({ ...options, invoke: () => answer, isForgetful: true });
  return () => client.call(createCall(), readBody);
};

const endpoints = ['a', 'b', 'c'];
const subjects: Readonly<Record<string, { readonly width: number; call(): Promise<unknown> }>> = {
  'no client': {
    width: 1,
    call: async () => {
      createCall();
      return (await answer).body;
    },
  },
  'one endpoint': { width: 1, call: createClientCall({}) },
  'one endpoint, 64 at a time': { width: 64, call: createClientCall({}) },
  'three endpoints in turn': { width: 1, call: createClientCall({ endpoints }) },
  'three endpoints by load': {
    width: 1,
    call: createClientCall({ endpoints, balancing: { strategy: 'least_in_flight' } }),
  },
  'queued, 64 at a time for 16 places': {
    width: 64,
    call: createClientCall({ limits: { concurrency: 16, queue: 64, queue_ms: 60_000 } }),
  },
};

async function measure(call: () => Promise<unknown>, width: number): Promise<number> {
  const caller = async () => {
    for (let done = 0; done < CALLS / width; done += 1) await call();
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: width }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

for (const [title, { call, width }] of Object.entries(subjects)) {
  await measure(call, width);
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(call, width));
  rounds.sort((first, other) => first - other);
  const [least = 0] = rounds;
  const median = rounds[Math.floor(ROUNDS / 2)] ?? 0;
  console.log(`${title.padEnd(36)} ${median.toFixed(2)} µs a call (least ${least.toFixed(2)})`);
}

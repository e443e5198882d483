import fc from 'fast-check';
import { craftGood, type FuzzTarget } from './fuzz-target.js';
import { type Material, type Mutation, mutate, mutations } from './mutate.js';
import { exchange, parseResponses } from './read-responses.js';
import { readRequestMaterial } from './request-seeds.js';
import { type Fuzzing, quoteBytes, tryFor } from './run-property.js';
import { DESCRIPTOR_TEXTS, TEXTS } from './text-seeds.js';

interface RequestCounts {
  readonly connections: number;
  /** The number of responses by status. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** A host closes an idle connection after about a second. The rest is for a busy machine. Milliseconds. */
const CLOSE_DEADLINE_MS = 20_000;
const CONNECTIONS_AT_ONCE = 64;
const REQUESTS_PER_CONNECTION = 3;

const connections = fc.array(
  fc.record({
    requests: fc.array(mutations, { minLength: 1, maxLength: REQUESTS_PER_CONNECTION }),
    /** Whether the client ends its side of the connection. Otherwise the host must time out. */
    end: fc.boolean(),
  }),
  { minLength: 1, maxLength: CONNECTIONS_AT_ONCE },
);

const plans = fc.record({ connections, descriptor: mutations, isJson: fc.boolean() });

/**
 * Sends mutated requests concurrently while mutated descriptors are replaced. Requires that every connection
 * ends, every response is complete and none is a 500, and that the valid module serves after each round.
 */
export async function fuzzRequests(
  fuzzing: Fuzzing,
  target: FuzzTarget,
  closeDeadlineMs = CLOSE_DEADLINE_MS,
): Promise<RequestCounts> {
  const material = await readRequestMaterial();
  const descriptors = { ...TEXTS, seeds: DESCRIPTOR_TEXTS.map((text) => Buffer.from(text)) };
  const statuses = new Map<number, number>();
  let count = 0;
  await tryFor(fuzzing, plans, async ({ connections, descriptor, isJson }) => {
    dropDescriptor(target, mutate(descriptor, descriptors), isJson);
    await Promise.all(
      connections.map(async ({ requests, end }) => {
        count += 1;
        const bytes = joinRequests(requests, material);
        for (const status of await tryBytes(target, bytes, { end, deadlineMs: closeDeadlineMs })) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      }),
    );
    await expectServed(target);
  });
  return { connections: count, statuses };
}

function joinRequests(requests: readonly Mutation[], material: Material): Buffer {
  return Buffer.concat(requests.map((request) => mutate(request, material)));
}

async function tryBytes(
  { address }: FuzzTarget,
  bytes: Buffer,
  options: { readonly end: boolean; readonly deadlineMs: number },
): Promise<number[]> {
  try {
    const received = await exchange(address, bytes, options);
    return parseResponses(received, /head/i.test(bytes.toString('latin1')));
  } catch (cause) {
    const message = `${(cause as Error).message}, for ${quoteBytes(bytes)}`;
    throw new Error(message, { cause });
  }
}

/** Skips descriptors that name another machine or a program, because a mutated provider must not be called. */
function dropDescriptor({ drop }: FuzzTarget, bytes: Buffer, isJson: boolean): void {
  const text = bytes.toString('latin1');
  if (/:\/\/(?!127\.0\.0\.1[:/"])/.test(text) || /kind\W+(?:process|nats)/.test(text)) return;
  drop(`fuzz.${isJson ? 'json' : 'yaml'}`, bytes);
}

async function expectServed(target: FuzzTarget): Promise<void> {
  const received = await exchange(target.address, craftGood(), {
    end: false,
    deadlineMs: CLOSE_DEADLINE_MS,
  });
  const [status] = parseResponses(received, false);
  if (status !== 200) throw new Error(`the valid module returned ${status ?? 'nothing'}`);
}

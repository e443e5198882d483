import { expect } from 'chai';
import { expectProblem } from '../http/expect-problem.js';
import { waitUntil } from '../http/wait-until.js';
import { callItems, type ItemsCall, readModule } from '../provider/routes.js';

interface Listening {
  readonly port: number;
}

/** Idle connections close after the keep-alive time of the host (4 s). */
const IDLE_MS = 30_000;
const ANSWER_MS = 20_000;

/** Calls `GET` and `POST /items` on several connections until the time is over: statuses, by how often. */
export async function callMany(
  host: Listening,
  module: string,
  { callers, forMs }: { callers: number; forMs: number },
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const end = performance.now() + forMs;
  const caller = async (number: number) => {
    const given: ItemsCall = { method: number % 2 === 0 ? 'GET' : 'POST', deadlineMs: ANSWER_MS };
    do {
      const answer = await callItems(host, module, given);
      // Whatever is not 200 is a Problem in every detail.
      if (answer.status !== 200) expectProblem(answer, 502);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    } while (performance.now() < end);
  };
  await Promise.all(Array.from({ length: callers }, (_, number) => caller(number)));
  return statuses;
}

/** The host serves the module again, by itself, and nothing is in flight. */
export async function expectRecovery(host: Listening, module: string): Promise<void> {
  let last = 0;
  await waitUntil(`${module} is served again`, async () => {
    last = (await callItems(host, module, { deadlineMs: ANSWER_MS })).status;
    return last === 200;
  });
  expect(last).to.equal(200);
  await expectNothingInFlight(host, module);
}

export async function expectNothingInFlight(host: Listening, module: string): Promise<void> {
  await waitUntil('nothing in flight', async () => {
    const { counts, endpoints } = await readModule(host, module);
    const ofEndpoints = endpoints.reduce((sum, one) => sum + one.in_flight, 0);
    return counts.in_flight === 0 && counts.queued === 0 && ofEndpoints === 0;
  });
}

/** What was opened for calls is closed again when nobody calls. */
export async function expectNoConnections(count: () => number): Promise<void> {
  await waitUntil('no connection is left', () => count() === 0, IDLE_MS);
}

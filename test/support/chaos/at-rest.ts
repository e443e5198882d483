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

/** Calls `GET` and `POST /items` on several connections. @returns the number of responses by status */
export async function callMany(
  host: Listening,
  module: string,
  { callers, forMs }: { callers: number; forMs: number },
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const end = performance.now() + forMs;
  const caller = async (number: number) => {
    const itemsCall: ItemsCall = {
      method: number % 2 === 0 ? 'GET' : 'POST',
      deadlineMs: ANSWER_MS,
    };
    do {
      const response = await callItems(host, module, itemsCall);
      // Any other status must be a complete Problem.
      if (response.status !== 200) expectProblem(response, 502);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    } while (performance.now() < end);
  };
  await Promise.all(Array.from({ length: callers }, (_, number) => caller(number)));
  return statuses;
}

/** Waits until the host serves the module again and no call is in flight. */
export async function expectRecovery(host: Listening, module: string): Promise<void> {
  let last = 0;
  await waitUntil(`${module} is served again`, async () => {
    last = (await callItems(host, module, { deadlineMs: ANSWER_MS })).status;
    return last === 200;
  });
  expect(last).to.equal(200);
  await expectNothingInFlight(host, module);
}

async function expectNothingInFlight(host: Listening, module: string): Promise<void> {
  await waitUntil('nothing in flight', async () => {
    const { counts, endpoints } = await readModule(host, module);
    const ofEndpoints = endpoints.reduce((sum, module) => sum + module.in_flight, 0);
    return counts.in_flight === 0 && counts.queued === 0 && ofEndpoints === 0;
  });
}

/** Waits until all idle connections are closed. */
export async function expectNoConnections(count: () => number): Promise<void> {
  await waitUntil('no connection is left', () => count() === 0, IDLE_MS);
}

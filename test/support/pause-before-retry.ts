import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 500;

/**
 * Loaded by mocha. What a test looks for may be a moment away, as a line of the log is: run again at once, it
 * would meet the same moment.
 */
export const mochaHooks: Mocha.RootHookObject = {
  async beforeEach(this: Mocha.Context) {
    // Documented as public; protected in the types.
    const test = this.currentTest as unknown as { currentRetry(): number };
    if (test.currentRetry() > 0) await sleep(PAUSE_MS);
  },
};

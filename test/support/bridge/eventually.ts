import { DEADLINE_MS } from '../http/wait-until.js';

const PAUSE_MS = 25;

/** Retries until `work` does not throw. @throws its last error at the deadline. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

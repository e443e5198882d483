import type { Log } from '../contract/index.js';

/** Runs work for one module. An error in it is logged and affects neither the host nor other modules. */
export async function isolate(log: Log, file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error({ err: error, file }, 'module update failed');
  }
}

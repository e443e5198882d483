import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

/** Runs `act` as on a system that creates no more threads. */
export async function withoutThreads(act: () => Promise<unknown>): Promise<void> {
  const { Worker } = threads;
  const replace = (next: typeof Worker) => {
    threads.Worker = next;
    syncBuiltinESMExports();
  };
  replace(
    class {
      constructor() {
        const error = new Error('Worker initialization failure: EAGAIN');
        throw Object.assign(error, { code: 'ERR_WORKER_INIT_FAILED' });
      }
    } as never,
  );
  try {
    await act();
  } finally {
    replace(Worker);
  }
}

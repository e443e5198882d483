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
        throw new Error('Worker initialization failure: EAGAIN');
      }
    } as never,
  );
  try {
    await act();
  } finally {
    replace(Worker);
  }
}

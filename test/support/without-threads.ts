import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

/** Runs `act` as on a system that creates no more threads, and has none of earlier tests. */
export async function withoutThreads(act: () => Promise<unknown>): Promise<void> {
  const { Worker } = threads;
  const { postMessage } = Worker.prototype;
  const fail = () => {
    const error = new Error('Worker initialization failure: EAGAIN');
    throw Object.assign(error, { code: 'ERR_WORKER_INIT_FAILED' });
  };
  const replace = (next: typeof Worker) => {
    threads.Worker = next;
    syncBuiltinESMExports();
  };
  replace(
    class {
      constructor() {
        fail();
      }
    } as never,
  );
  Worker.prototype.postMessage = fail;
  try {
    await act();
  } finally {
    Worker.prototype.postMessage = postMessage;
    replace(Worker);
  }
}

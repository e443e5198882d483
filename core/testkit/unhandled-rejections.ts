/**
 * Collects the rejections during `work` that no code handles. Other listeners are removed meanwhile:
 * a test runner would end the run at the first rejection, and Node.js the process.
 */
export async function collectUnhandledRejections(work: () => Promise<void>): Promise<unknown[]> {
  const rejections: unknown[] = [];
  const collect = (reason: unknown) => void rejections.push(reason);
  const others = process.rawListeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', collect);
  try {
    await work();
  } finally {
    process.off('unhandledRejection', collect);
    for (const listener of others) {
      process.on('unhandledRejection', listener as NodeJS.UnhandledRejectionListener);
    }
  }
  return rejections;
}

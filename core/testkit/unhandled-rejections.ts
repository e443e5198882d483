/**
 * What was rejected during `work` without anybody handling it. Test runners end a run at the first of
 * these, and Node the process: their listeners are put aside until `work` is over.
 */
export async function collectUnhandledRejections(work: () => Promise<void>): Promise<unknown[]> {
  const stray: unknown[] = [];
  const collect = (reason: unknown) => void stray.push(reason);
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
  return stray;
}

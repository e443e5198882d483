/** Resolves when the work has ended, well or badly, or when the time is over. */
export async function settleWithin(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, timeout]);
  } catch {
    // The caller asked for the end alone.
  } finally {
    clearTimeout(timer);
  }
}

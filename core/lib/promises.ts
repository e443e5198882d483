/**
 * @param createError makes what is thrown when the work is not done in time; the work itself goes on
 * unheard
 */
export async function withTimeout<T>(
  work: T | Promise<T>,
  timeoutMs: number,
  createError = () => new Error(`not done after ${timeoutMs} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(createError()), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

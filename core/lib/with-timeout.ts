/** @throws Error, `message`, when the work is not done in time; the work itself goes on unheard. */
export async function withTimeout<T>(
  work: T | Promise<T>,
  timeoutMs: number,
  message = `not done after ${timeoutMs} ms`,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

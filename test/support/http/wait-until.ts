const POLL_MS = 20;
/** Below the timeout of a test, so that the error names what is missing. */
export const DEADLINE_MS = 45_000;

/** Polls until the condition holds. @throws an error that names the condition at the deadline. */
export async function waitUntil(
  subject: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = DEADLINE_MS,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`${subject}: not within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

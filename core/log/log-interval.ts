/** Whether a line may be logged now: at most one in each interval, because failures may repeat. */
export function createLogInterval(intervalMs: number): () => boolean {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - loggedAt < intervalMs) return false;
    loggedAt = now;
    return true;
  };
}

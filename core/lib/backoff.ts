export interface BackoffBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Delay before attempt `attempt` (from 1): doubles up to `maxMs`, minus a random share of up to one half. */
export function backoffMs(attempt: number, { firstMs, maxMs }: BackoffBounds): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 30));
  return full * (1 - Math.random() / 2);
}

import { setTimeout as pause } from 'node:timers/promises';
import { type BackoffBounds, steadyBackoffMs } from './backoff.js';

export const RECONNECT_BACKOFF: BackoffBounds = { firstMs: 100, maxMs: 5_000 };
/** A share of the delay, so that hosts that lost a server together do not reconnect together. */
const JITTER = 0.3;

/**
 * Waits before the next attempt to connect; returns early when the signal is aborted.
 * @param rounds the number of times that each server has failed, in a row
 */
export async function waitForRetry(
  rounds: number,
  signal: AbortSignal,
  backoff: BackoffBounds = RECONNECT_BACKOFF,
): Promise<void> {
  const delayMs = steadyBackoffMs(Math.max(1, rounds + 1), backoff);
  const jitter = 1 + JITTER * (2 * Math.random() - 1);
  try {
    await pause(delayMs * jitter, undefined, { signal });
  } catch {
    // The caller checks the signal.
  }
}

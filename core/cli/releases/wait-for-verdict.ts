import { setTimeout as pause } from 'node:timers/promises';
import type { ReleaseEntry, ReleasesStatus } from '../../contract/release-status.js';
import { type HostClient, HostUnreachable } from '../client/host-client.js';
import { CommandError } from '../command-error.js';
import { readReleases } from './release-client.js';

const POLL_MS = 1000;
/** The time after the end of the probation within which hosts decide. */
const GRACE_MS = 60_000;

/**
 * Waits for the verdict on a canary.
 * @param onFigures called when calls were counted
 * @throws CommandError when no host decides, or none is reachable for a minute.
 */
export async function waitForVerdict(
  client: HostClient,
  release: string,
  onFigures: (canary: NonNullable<ReleasesStatus['canary']>) => Promise<void>,
): Promise<NonNullable<ReleaseEntry['verdict']>> {
  let deadline = performance.now() + GRACE_MS;
  let printed = '';
  for (;;) {
    const status = await readNow(client);
    const verdict = status?.releases.find((entry) => entry.release === release)?.verdict ?? null;
    if (verdict !== null) return verdict;
    if (status?.canary?.release === release) {
      const { until, modules } = status.canary;
      const leftMs = Date.parse(until) - Date.now() - client.clockSkewMs;
      deadline = performance.now() + Math.max(0, leftMs) + GRACE_MS;
      const figures = JSON.stringify(modules);
      if (figures !== printed) await onFigures(status.canary);
      printed = figures;
    }
    if (performance.now() >= deadline) {
      throw new CommandError('the canary was not decided: see modgate releases');
    }
    await pause(POLL_MS);
  }
}

/** Returns `null` while the host is unreachable, such as during a restart. */
async function readNow(client: HostClient): Promise<ReleasesStatus | null> {
  try {
    return await readReleases(client);
  } catch (error) {
    if (error instanceof HostUnreachable) return null;
    throw error;
  }
}

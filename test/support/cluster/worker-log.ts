import { waitUntil } from '../http/wait-until.js';
import type { ModgateProcess } from '../start-host.js';

/** On a loaded CI machine a worker may take many seconds to start. */
export const TIMEOUT_MS = 40_000;

/** The pids of the serving workers, oldest first. */
export function listWorkers(host: Pick<ModgateProcess, 'logs'>): number[] {
  const pids = new Set<number>();
  for (const line of host.logs()) {
    const pid = Number(line['pid']);
    if (line['msg'] === 'worker ready') pids.add(pid);
    if (line['msg'] === 'worker exited unexpectedly') pids.delete(pid);
  }
  return [...pids];
}

export function countLines(host: Pick<ModgateProcess, 'logs'>, message: string): number {
  return host.logs().filter(({ msg }) => msg === message).length;
}

export async function waitForLine(
  host: Pick<ModgateProcess, 'logs'>,
  message: string,
  count = 1,
): Promise<void> {
  await waitUntil(`'${message}'`, () => countLines(host, message) >= count, TIMEOUT_MS);
}

/** Signals the primary only. */
export function signal(host: Pick<ModgateProcess, 'pid'>, name: NodeJS.Signals): void {
  process.kill(host.pid, name);
}

/** Whether the process is running. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

import { waitUntil } from '../http/wait-until.js';
import type { RunningModgate } from '../start-host.js';

/** CI runs on loaded machines, where a worker may take many seconds to start. */
export const PATIENCE_MS = 40_000;

/** The process ids of the workers that serve, oldest first. */
export function listWorkers(host: Pick<RunningModgate, 'logs'>): number[] {
  const pids: number[] = [];
  for (const line of host.logs()) {
    const pid = Number(line['pid']);
    if (line['msg'] === 'a worker serves') pids.push(pid);
    if (line['msg'] === 'a worker died') pids.splice(pids.indexOf(pid), 1);
  }
  return pids;
}

export function countLines(host: Pick<RunningModgate, 'logs'>, message: string): number {
  return host.logs().filter(({ msg }) => msg === message).length;
}

export async function waitForLine(
  host: Pick<RunningModgate, 'logs'>,
  message: string,
  count = 1,
): Promise<void> {
  await waitUntil(`'${message}'`, () => countLines(host, message) >= count, PATIENCE_MS);
}

/** Sends a signal to the host; the workers are its own affair. */
export function signal(host: Pick<RunningModgate, 'pid'>, name: NodeJS.Signals): void {
  process.kill(host.pid, name);
}

/** Whether the process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import type { FleetHostStatus } from '../../contract/fleet-status.js';
import { ConfigError } from '../../errors.js';
import { type HostClient, HostUnreachable } from '../client/host-client.js';
import { catchUnreachable } from '../client/host-response.js';
import { parseDuration } from '../parse-duration.js';

const POLL_MS = 100;
/** The time of the first answer, after a shorter timeout too. */
const FIRST_ANSWER_MS = 2000;

/** The value of `--timeout` in milliseconds. @throws ConfigError */
export function readTimeout(text: string): number {
  const timeoutMs = parseDuration(text);
  if (!Number.isNaN(timeoutMs)) return timeoutMs;
  throw new ConfigError('--timeout must be a duration, such as 10s, 500ms or 2m');
}

export function nameHosts(hosts: readonly FleetHostStatus[]): string {
  return hosts.length === 1 ? `host ${listHosts(hosts)} is` : `hosts ${listHosts(hosts)} are`;
}

export function listHosts(hosts: readonly FleetHostStatus[]): string {
  return hosts.map(({ id, address }) => `${id} (${address})`).join(', ');
}

/**
 * Asks a host, which may still be starting, until an answer decides.
 * @param ask uses a client whose requests end at the timeout
 * @param decide returns `null` to ask again
 * @param giveUp decides after the timeout
 */
export async function pollHost<Answer, End>(
  client: HostClient,
  timeoutMs: number,
  ask: (client: HostClient) => Promise<Answer>,
  decide: (answer: Answer) => End | null,
  giveUp: (last: Answer | HostUnreachable) => End,
): Promise<End> {
  const startedAt = performance.now();
  const deadline = startedAt + timeoutMs;
  const bounded = client.until(Math.max(deadline, startedAt + FIRST_ANSWER_MS));
  for (;;) {
    const answer = await ask(bounded).catch(catchUnreachable);
    const end = answer instanceof HostUnreachable ? null : decide(answer);
    if (end !== null) return end;
    if (performance.now() >= deadline) return giveUp(answer);
    await pause(Math.min(POLL_MS, Math.max(0, deadline - performance.now())));
  }
}

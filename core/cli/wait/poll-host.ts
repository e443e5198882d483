import { setTimeout as pause } from 'node:timers/promises';
import type { FleetHostStatus } from '../../contract/fleet-status.js';
import { ConfigError } from '../../errors.js';
import { type HostClient, HostUnreachable } from '../client/host-client.js';
import { catchUnreachable } from '../client/host-response.js';
import { parseDuration } from '../parse-duration.js';

const POLL_MS = 100;
/** The least time for an answer, also where it is asked for just before the timeout. */
const ANSWER_MS = 2000;

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
 * @param ask uses a client whose requests end at the timeout, or a little later
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
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const end = Math.max(deadline, performance.now() + ANSWER_MS);
    const answer = await ask(client.until(end)).catch(catchUnreachable);
    const decision = answer instanceof HostUnreachable ? null : decide(answer);
    if (decision !== null) return decision;
    if (performance.now() >= deadline) return giveUp(answer);
    await pause(Math.min(POLL_MS, Math.max(0, deadline - performance.now())));
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import type { FleetHostStatus, FleetStatus } from '../../contract/fleet-status.js';
import { FLEET_PATH, fleetStatus } from '../client/fleet-status.js';
import { type HostClient, HostUnreachable } from '../client/host-client.js';
import { requestJson } from '../client/host-response.js';

const POLL_MS = 100;

interface FleetWait {
  /** The name of a module, or a digest. */
  readonly served: string;
  readonly timeoutMs: number;
  readonly ignoresLost: boolean;
}

export interface FleetWaitOutcome {
  readonly isServed: boolean;
  readonly detail: string;
  readonly hosts: readonly FleetHostStatus[];
}

/** Polls until all hosts of the fleet serve the module or digest, or one is lost. */
export async function waitForFleet(
  client: HostClient,
  { served, timeoutMs, ignoresLost }: FleetWait,
): Promise<FleetWaitOutcome> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const status = await read(client, served);
    const end = 'hosts' in status ? decide(status, served, ignoresLost) : null;
    if (end !== null) return end;
    if (performance.now() >= deadline) return timeOut(status, served, timeoutMs);
    await pause(Math.min(POLL_MS, Math.max(0, deadline - performance.now())));
  }
}

async function read(client: HostClient, served: string): Promise<FleetStatus | HostUnreachable> {
  try {
    return await requestJson(
      client,
      `${FLEET_PATH}?serves=${encodeURIComponent(served)}`,
      fleetStatus,
    );
  } catch (error) {
    // The host may still be starting.
    if (error instanceof HostUnreachable) return error;
    throw error;
  }
}

/** Returns `null` while hosts may still follow. */
function decide({ hosts }: FleetStatus, served: string, ignoresLost: boolean) {
  const lost = hosts.filter(({ state }) => state === 'lost');
  if (lost.length > 0 && !ignoresLost) {
    const detail = `${nameHosts(lost)} lost; with --ignore-lost the others alone count`;
    return { isServed: false, detail, hosts };
  }
  const counted = hosts.filter(({ state }) => state !== 'lost' && state !== 'draining');
  if (counted.length === 0 || !counted.every(({ serves }) => serves === true)) return null;
  return { isServed: true, detail: `${served} is served by ${counted.length} hosts`, hosts };
}

function timeOut(
  status: FleetStatus | HostUnreachable,
  served: string,
  timeoutMs: number,
): FleetWaitOutcome {
  const begin = `${served} is not served by all hosts after ${timeoutMs} ms`;
  if (status instanceof HostUnreachable) {
    return { isServed: false, detail: `${begin}: ${status.message}`, hosts: [] };
  }
  const { hosts } = status;
  const missing = hosts.filter(({ state, serves }) => serves !== true && state !== 'draining');
  return { isServed: false, detail: `${begin}: not by ${listHosts(missing)}`, hosts };
}

function nameHosts(hosts: readonly FleetHostStatus[]): string {
  return hosts.length === 1 ? `host ${listHosts(hosts)} is` : `hosts ${listHosts(hosts)} are`;
}

function listHosts(hosts: readonly FleetHostStatus[]): string {
  return hosts.map(({ id, address }) => `${id} (${address})`).join(', ');
}

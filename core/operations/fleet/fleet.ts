import type { FleetHostStatus, FleetStatus } from '../../contract/fleet-status.js';
import { createToken } from '../../injection.js';

export interface Fleet {
  /**
   * @param served a module or digest that hosts may serve
   * @returns `null` for a host without a fleet
   * @throws StoreUnavailable.
   */
  read(served?: string): Promise<FleetStatus | null>;
}

export const FLEET = createToken<Fleet>('fleet');

export const NO_FLEET: Fleet = { read: async () => null };

/** Hosts that start or drain do not affect agreement. */
export function describeFleet(fleet: string, hosts: readonly FleetHostStatus[]): FleetStatus {
  const digests = new Set(
    hosts.filter(({ state }) => state === 'ready').map(({ digest }) => digest),
  );
  const [digest] = digests;
  const isLost = hosts.some(({ state }) => state === 'lost');
  return {
    fleet,
    agreed: digests.size === 1 && !isLost,
    digest: digests.size === 1 && digest !== undefined ? digest : null,
    hosts,
  };
}

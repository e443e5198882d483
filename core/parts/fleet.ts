import { hostname } from 'node:os';
import { createFleetMetrics } from '../observability/metrics/fleet-metrics.js';
import { FLEET, NO_FLEET } from '../operations/fleet/fleet.js';
import { FleetMember } from '../operations/fleet/fleet-member.js';
import { LOG } from '../operations/injection-tokens.js';
import { readVersion } from '../version.js';
import { MODULES } from './modules.js';
import { CONFIG, definePart, PROCESSES, provide } from './part.js';
import { RELEASES } from './releases.js';
import { STORAGE } from './storage.js';

/** The host as a member of its fleet, and the release that all hosts of it serve. */
export const FLEET_PART = definePart(
  'fleet',
  [CONFIG, LOG, PROCESSES, STORAGE.token, RELEASES.token, MODULES.token],
  (config, log, processes, { store }, releases, modules) => {
    const { fleet, state: stateDir, host } = config;
    const { registry, overview, isApplied, fleetLeadership, unreadyReason } = modules;
    releases.follower?.start(overview, isApplied);
    if (fleet === null || fleetLeadership === null) return { provides: [provide(FLEET, NO_FLEET)] };
    const { leadership } = processes;
    const member = new FleetMember({
      ...{ fleet, stateDir, overview, leadership, unreadyReason, log },
      version: readVersion(),
      hosts: store.fleetHosts,
      onChange: (listener) => registry.onChange(listener),
      onList: (hosts) => fleetLeadership.choose(hosts),
    });
    return {
      provides: [provide(FLEET, member)],
      metrics: createFleetMetrics(member),
      onListening: (url) => member.listens(describeAddress(host, url)),
      onDraining: () => member.drains(),
      onDrained: async (isReplaced) => {
        if (!isReplaced) await member.leave();
      },
      close: () => member.close(),
    };
  },
);

/**
 * Replaces the address of a host that listens on all addresses, which other machines cannot use.
 */
function describeAddress(host: string, url: string): string {
  if (host !== '0.0.0.0' && host !== '::') return url;
  const reachable = new URL(url);
  reachable.hostname = hostname();
  return reachable.origin;
}

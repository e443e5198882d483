import type { FleetStatus } from '../../contract/fleet-status.js';
import type { CollectedMetric } from './collected-metric.js';

const STATES = ['starting', 'ready', 'draining', 'lost'] as const;

/** Creates metrics of the fleet as last read by the process that reports for the host. */
export function createFleetMetrics(source: {
  readonly last: FleetStatus | null;
}): CollectedMetric[] {
  return [
    {
      name: 'modgate_fleet_hosts',
      help: 'Hosts of the fleet by state.',
      type: 'gauge',
      labelNames: ['state'],
      read: () => {
        const { last } = source;
        if (last === null) return [];
        return STATES.map((state) => [
          { state },
          last.hosts.filter((host) => host.state === state).length,
        ]);
      },
    },
    {
      name: 'modgate_fleet_agreed',
      help: 'Whether all hosts of the fleet that are ready serve the same (1), with none lost.',
      type: 'gauge',
      read: () => (source.last?.agreed === true ? 1 : 0),
    },
  ];
}

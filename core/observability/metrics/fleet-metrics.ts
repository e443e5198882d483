import type { FleetStatus } from '../../contract/fleet-status.js';
import type { ServedRelease } from '../../operations/releases/release-follower.js';
import { type CollectedMetric, readCounts } from './collected-metric.js';

const STATES = ['starting', 'ready', 'draining', 'lost'] as const;

/** Creates metrics of the fleet as last read by the process that reports for the host. */
export function createFleetMetrics(source: {
  readonly last: FleetStatus | null;
  readonly clockSkewMs: number | null;
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
    {
      name: 'modgate_fleet_clock_skew_seconds',
      help: 'By how much the clock of the host is ahead of that of the store.',
      type: 'gauge',
      read: () => {
        const { clockSkewMs } = source;
        return clockSkewMs === null ? [] : [[{}, clockSkewMs / 1000]];
      },
    },
  ];
}

/** The release that the process which follows for the host serves. */
export function createReleaseMetrics(source: {
  readonly status: ServedRelease | null;
}): CollectedMetric[] {
  return [
    {
      name: 'modgate_release_info',
      help: 'The release that the host serves.',
      type: 'gauge',
      labelNames: ['release'],
      read: () => {
        const release = source.status?.release ?? null;
        return release === null ? [] : [[{ release }, 1]];
      },
    },
    {
      name: 'modgate_release_served_timestamp_seconds',
      help: 'When the host began to serve its release, as Unix time.',
      type: 'gauge',
      read: () => {
        const since = source.status?.since ?? null;
        return since === null ? [] : [[{}, since.getTime() / 1000]];
      },
    },
    {
      name: 'modgate_release_rejected',
      help: 'Whether the host cannot serve the release that it should (1).',
      type: 'gauge',
      read: () => {
        const { status } = source;
        return status === null ? [] : [[{}, status.problem === null ? 0 : 1]];
      },
    },
    {
      name: 'modgate_release_failures_total',
      help: 'Releases that the host could not serve, and losses of the store while it follows them.',
      type: 'counter',
      labelNames: ['reason'],
      read: () => readCounts('reason', source.status?.failures ?? {}),
    },
  ];
}

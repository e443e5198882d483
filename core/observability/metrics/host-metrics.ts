import type { CandidateReport } from '../../contract/candidate-report.js';
import type { ModuleRecord } from '../../modules/module-record.js';
import { MODULE_STATES } from '../../modules/module-record.js';
import { COPY_RESULTS } from '../../provider/candidate/candidate-reports.js';
import type { ProviderClient } from '../../provider/provider-client.js';
import { type CollectedMetric, type MetricSample, readCounts } from './collected-metric.js';

interface Reloads {
  /** Descriptors that were applied, removed, or renamed. */
  readonly success: number;
  /** Descriptors that were rejected; the last good version may serve. */
  readonly failure: number;
  readonly lastAt: Date;
}

export interface ObservedHost {
  list(): readonly ModuleRecord[];
  readonly reloads: Reloads;
  /** Requests above the rate of their actor on the whole host. */
  readonly rejectedActors: () => number;
}

const BREAKER_STATES = ['closed', 'half_open', 'open'] as const;
const MS_PER_SECOND = 1000;

/** The metrics of modules and their endpoints. */
export function createHostMetrics(host: ObservedHost): CollectedMetric[] {
  const readClients =
    (read: (module: string, client: ProviderClient) => MetricSample[]) => (): MetricSample[] =>
      host.list().flatMap(({ live }) => (live === null ? [] : read(live.name, live.client)));
  const readCount = (member: 'inFlight' | 'queued' | 'sending') =>
    readClients((module, client) => [[{ module }, client.counts()[member]]]);
  return [
    {
      name: 'modgate_breaker_state',
      help: 'State of a circuit breaker: 1 for the current one. Routes are listed while not closed.',
      type: 'gauge',
      labelNames: ['module', 'endpoint', 'state', 'route'],
      aggregator: 'max',
      read: readClients(readBreakers),
    },
    {
      name: 'modgate_endpoint_up',
      help: 'Whether an endpoint is up: its health checks pass and its circuit breaker is closed.',
      type: 'gauge',
      labelNames: ['module', 'endpoint'],
      aggregator: 'min',
      read: readClients((module, client) =>
        client
          .endpoints()
          .map(({ endpoint, state }) => [{ module, endpoint }, Number(state === 'up')]),
      ),
    },
    {
      name: 'modgate_resolve_failures_total',
      help: 'failed lookups of the names of endpoints; only for modules whose endpoints are resolved by name.',
      type: 'counter',
      labelNames: ['module'],
      read: readClients((module, { resolution, totals }) =>
        resolution === null ? [] : [[{ module }, totals.resolveFailures ?? 0]],
      ),
    },
    {
      name: 'modgate_in_flight',
      help: 'Calls of a module in flight, until their response has left.',
      type: 'gauge',
      labelNames: ['module'],
      read: readCount('inFlight'),
    },
    {
      name: 'modgate_queued',
      help: 'Calls of a module in the queue.',
      type: 'gauge',
      labelNames: ['module'],
      read: readCount('queued'),
    },
    {
      name: 'modgate_sending',
      help: 'Responses of a module that clients have not read completely.',
      type: 'gauge',
      labelNames: ['module'],
      read: readCount('sending'),
    },
    {
      name: 'modgate_rate_limited_total',
      help: 'Requests rejected by a rate limit: of the actor, on the host (no module) or a module, or of the module.',
      type: 'counter',
      labelNames: ['module', 'limit'],
      read: () => [
        [{ module: '', limit: 'actor' }, host.rejectedActors()],
        ...readClients((module, { rates }) => [
          [{ module, limit: 'actor' }, rates?.rejected.actor ?? 0],
          [{ module, limit: 'module' }, rates?.rejected.module ?? 0],
          [{ module, limit: 'client' }, rates?.rejected.client ?? 0],
        ])(),
      ],
    },
    {
      name: 'modgate_module_state',
      help: 'Descriptors of a module by state; no module where the descriptor cannot be read.',
      type: 'gauge',
      labelNames: ['module', 'state'],
      aggregator: 'max',
      read: () => readStates(host.list()),
    },
    {
      name: 'modgate_uncaught_errors_total',
      help: 'Uncaught errors in the code of a module; any of them makes it faulted.',
      type: 'counter',
      labelNames: ['module'],
      read: () =>
        host
          .list()
          .flatMap(({ name, uncaughtErrors }) =>
            name === null ? [] : [[{ module: name }, uncaughtErrors] as const],
          ),
    },
    {
      name: 'modgate_reload_total',
      help: 'Changes of descriptors that were applied (success) or rejected (failure).',
      type: 'counter',
      labelNames: ['result'],
      // Every worker applies every change.
      aggregator: 'max',
      read: () => {
        const { success, failure } = host.reloads;
        return readCounts('result', { success, failure });
      },
    },
    {
      name: 'modgate_last_reload_timestamp_seconds',
      help: 'When a descriptor last changed, in seconds since 1970.',
      type: 'gauge',
      aggregator: 'max',
      read: () => host.reloads.lastAt.getTime() / MS_PER_SECOND,
    },
  ];
}

function readBreakers(module: string, client: ProviderClient): MetricSample[] {
  return client.endpoints().flatMap(({ endpoint, state, routes }) =>
    [{ route: '', state }, ...routes].flatMap(({ route, state }) => {
      const current = state === 'open' || state === 'half_open' ? state : 'closed';
      return BREAKER_STATES.map(
        (state): MetricSample => [{ module, endpoint, state, route }, Number(state === current)],
      );
    }),
  );
}

/** Counts descriptors: two files can claim one name, and several can have none. */
function readStates(records: readonly ModuleRecord[]): MetricSample[] {
  const byName = new Map<string, ModuleRecord[]>();
  for (const record of records) {
    const name = record.name ?? '';
    byName.set(name, [...(byName.get(name) ?? []), record]);
  }
  return [...byName].flatMap(([module, ofModule]) =>
    MODULE_STATES.map(
      (state): MetricSample => [
        { module, state },
        ofModule.filter((record) => record.state === state).length,
      ],
    ),
  );
}

interface ObservedCandidates {
  list(): readonly (readonly [module: string, report: Pick<CandidateReport, 'totals'>])[];
}

/** Counts the copies of calls, by result. */
export function createCandidateMetric(candidates: ObservedCandidates): CollectedMetric {
  return {
    name: 'modgate_candidate_total',
    help: 'Copies of calls for the candidate of a module, by whether its answer was that of the live provider.',
    type: 'counter',
    labelNames: ['module', 'route', 'result'],
    read: () =>
      candidates.list().flatMap(([module, { totals }]) =>
        totals.flatMap((candidate) =>
          COPY_RESULTS.map((result): MetricSample => {
            return [{ module, route: candidate.route, result }, candidate[result]];
          }),
        ),
      ),
  };
}

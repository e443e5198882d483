import type { ModuleRecord } from '../../modules/module-record.js';
import { MODULE_STATES } from '../../modules/module-states.js';
import type { ProviderClient } from '../../provider/provider-client.js';
import type { CollectedMetric, Sample } from './collected-metric.js';

const QUANTILES = [0.5, 0.9, 0.99, 1] as const;

/** Who measures how late the event loop is. */
interface MeasuredLoop {
  /** Seconds, since they were taken last. */
  readQuantiles(quantiles: readonly number[]): readonly number[];
}

export function describeEventLoop(loop: MeasuredLoop): CollectedMetric {
  return {
    name: 'modgate_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape; quantile 1 is the longest.',
    type: 'gauge',
    aggregator: 'max',
    read: () => {
      const taken = loop.readQuantiles(QUANTILES);
      return QUANTILES.map((quantile, index) => ({
        labels: { quantile: String(quantile) },
        value: taken[index] as number,
      }));
    },
  };
}

/** How often the folder of descriptors, or a part of it, was read anew. */
export interface Reloads {
  /** Descriptors that were applied, removed, or renamed. */
  readonly success: number;
  /** Descriptors that were refused; what was good before may serve on. */
  readonly failure: number;
  readonly lastAt: Date;
}

/** What of the host is shown in metrics. */
export interface ObservedHost {
  list(): readonly ModuleRecord[];
  readonly reloads: Reloads;
  /** Requests over the rate of their actor, whatever they call. */
  readonly refusedActors: () => number;
}

const BREAKER_STATES = ['closed', 'half_open', 'open'] as const;
const MS_PER_SECOND = 1000;

/** The metrics of contract 9 that tell the state of modules and their endpoints. */
export function describeHostMetrics(host: ObservedHost): CollectedMetric[] {
  const gauge = (
    name: string,
    help: string,
    aggregator: CollectedMetric['aggregator'],
    read: () => Sample[],
  ): CollectedMetric => ({ name, help, type: 'gauge', aggregator, read });
  const readGuards = (read: (module: string, guard: ProviderClient) => Sample[]) => (): Sample[] =>
    host.list().flatMap(({ live }) => (live === null ? [] : read(live.name, live.client)));
  return [
    gauge(
      'modgate_breaker_state',
      'State of a circuit breaker: 1 for the current one. Routes are listed while not closed.',
      'max',
      readGuards(readBreakers),
    ),
    gauge(
      'modgate_endpoint_up',
      'Whether an endpoint is up: neither down by its checks nor kept away by its breaker.',
      'min',
      readGuards(readEndpoints),
    ),
    gauge(
      'modgate_in_flight',
      'Calls of a module in flight.',
      'sum',
      readGuards((module, guard) => [{ labels: { module }, value: guard.counts().inFlight }]),
    ),
    gauge(
      'modgate_queued',
      'Calls of a module that wait for their turn.',
      'sum',
      readGuards((module, guard) => [{ labels: { module }, value: guard.counts().queued }]),
    ),
    {
      name: 'modgate_rate_limited_total',
      help: 'Requests over a rate: of their actor, on the host (no module) or a module, or of the module.',
      type: 'counter',
      aggregator: 'sum',
      read: () => [
        { labels: { module: '', limit: 'actor' }, value: host.refusedActors() },
        ...readGuards((module, { rates: { rejected } }) => [
          { labels: { module, limit: 'actor' }, value: rejected.actor },
          { labels: { module, limit: 'module' }, value: rejected.module },
        ])(),
      ],
    },
    gauge(
      'modgate_module_state',
      'Descriptors of a module in a state; no module where the descriptor cannot be read.',
      'max',
      () => readStates(host.list()),
    ),
    {
      name: 'modgate_stray_errors_total',
      help: 'Errors that the code of a module left uncaught; any of them makes it faulted.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readStrays(host.list()),
    },
    {
      name: 'modgate_reload_total',
      help: 'Changes of descriptors that were applied (success) or refused (failure).',
      type: 'counter',
      // Each worker reads every change.
      aggregator: 'max',
      read: () => [
        { labels: { result: 'success' }, value: host.reloads.success },
        { labels: { result: 'failure' }, value: host.reloads.failure },
      ],
    },
    gauge(
      'modgate_last_reload_timestamp_seconds',
      'When a descriptor last changed, in seconds since 1970.',
      'max',
      () => [{ labels: {}, value: host.reloads.lastAt.getTime() / MS_PER_SECOND }],
    ),
  ];
}

function readBreakers(module: string, guard: ProviderClient): Sample[] {
  return guard.endpoints().flatMap(({ endpoint, state, routes }) =>
    [{ route: '', state }, ...routes].flatMap(({ route, state }) => {
      const current = state === 'open' || state === 'half_open' ? state : 'closed';
      return BREAKER_STATES.map((one) => ({
        labels: { module, endpoint, state: one, route },
        value: Number(one === current),
      }));
    }),
  );
}

function readEndpoints(module: string, guard: ProviderClient): Sample[] {
  return guard.endpoints().map(({ endpoint, state }) => ({
    labels: { module, endpoint },
    value: Number(state === 'up'),
  }));
}

function readStrays(records: readonly ModuleRecord[]): Sample[] {
  const byName = new Map<string, number>();
  for (const { name, uncaughtErrors } of records) {
    if (name !== null) byName.set(name, (byName.get(name) ?? 0) + uncaughtErrors);
  }
  return [...byName].map(([module, value]) => ({ labels: { module }, value }));
}

/** Two files can ask for one name, and many can have none: what is counted are descriptors. */
function readStates(records: readonly ModuleRecord[]): Sample[] {
  const byName = new Map<string, ModuleRecord[]>();
  for (const record of records) {
    const name = record.name ?? '';
    byName.set(name, [...(byName.get(name) ?? []), record]);
  }
  return [...byName].flatMap(([module, ofModule]) =>
    MODULE_STATES.map((state) => ({
      labels: { module, state },
      value: ofModule.filter((record) => record.state === state).length,
    })),
  );
}

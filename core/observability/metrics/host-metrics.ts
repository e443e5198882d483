import type { ModuleRecord } from '../../modules/module-record.js';
import { MODULE_STATES } from '../../modules/module-states.js';
import type { ProviderClient } from '../../provider/provider-client.js';
import { type CollectedMetric, readCounts, readValue, type Sample } from './collected-metric.js';

const QUANTILES = [0.5, 0.9, 0.99, 1] as const;

interface MeasuredLoop {
  /** Seconds, since the last call. */
  readQuantiles(quantiles: readonly number[]): readonly number[];
}

export function createEventLoopMetric(loop: MeasuredLoop): CollectedMetric {
  return {
    name: 'modgate_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape; quantile 1 is the longest.',
    type: 'gauge',
    aggregator: 'max',
    read: () => {
      const delays = loop.readQuantiles(QUANTILES);
      return QUANTILES.map((quantile, index) => ({
        labels: { quantile: String(quantile) },
        value: delays[index] as number,
      }));
    },
  };
}

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
  const gauge = (
    name: string,
    help: string,
    aggregator: CollectedMetric['aggregator'],
    read: () => Sample[],
  ): CollectedMetric => ({ name, help, type: 'gauge', aggregator, read });
  const readClients =
    (read: (module: string, client: ProviderClient) => Sample[]) => (): Sample[] =>
      host.list().flatMap(({ live }) => (live === null ? [] : read(live.name, live.client)));
  return [
    gauge(
      'modgate_breaker_state',
      'State of a circuit breaker: 1 for the current one. Routes are listed while not closed.',
      'max',
      readClients(readBreakers),
    ),
    gauge(
      'modgate_endpoint_up',
      'Whether an endpoint is up: its health checks pass and its circuit breaker is closed.',
      'min',
      readClients(readEndpoints),
    ),
    gauge(
      'modgate_in_flight',
      'Calls of a module in flight, until their response has left.',
      'sum',
      readClients((module, client) => [{ labels: { module }, value: client.counts().inFlight }]),
    ),
    gauge(
      'modgate_queued',
      'Calls of a module in the queue.',
      'sum',
      readClients((module, client) => [{ labels: { module }, value: client.counts().queued }]),
    ),
    gauge(
      'modgate_sending',
      'Responses of a module that clients have not read completely.',
      'sum',
      readClients((module, client) => [{ labels: { module }, value: client.counts().sending }]),
    ),
    {
      name: 'modgate_rate_limited_total',
      help: 'Requests rejected by a rate limit: of the actor, on the host (no module) or a module, or of the module.',
      type: 'counter',
      aggregator: 'sum',
      read: () => [
        { labels: { module: '', limit: 'actor' }, value: host.rejectedActors() },
        ...readClients((module, { rates }) => [
          { labels: { module, limit: 'actor' }, value: rates?.rejected.actor ?? 0 },
          { labels: { module, limit: 'module' }, value: rates?.rejected.module ?? 0 },
        ])(),
      ],
    },
    gauge(
      'modgate_module_state',
      'Descriptors of a module by state; no module where the descriptor cannot be read.',
      'max',
      () => readStates(host.list()),
    ),
    {
      name: 'modgate_uncaught_errors_total',
      help: 'Uncaught errors in the code of a module; any of them makes it faulted.',
      type: 'counter',
      aggregator: 'sum',
      read: () => readUncaughtErrors(host.list()),
    },
    {
      name: 'modgate_reload_total',
      help: 'Changes of descriptors that were applied (success) or rejected (failure).',
      type: 'counter',
      // Every worker applies every change.
      aggregator: 'max',
      read: () => {
        const { success, failure } = host.reloads;
        return readCounts('result', { success, failure });
      },
    },
    gauge(
      'modgate_last_reload_timestamp_seconds',
      'When a descriptor last changed, in seconds since 1970.',
      'max',
      () => readValue(host.reloads.lastAt.getTime() / MS_PER_SECOND),
    ),
  ];
}

function readBreakers(module: string, client: ProviderClient): Sample[] {
  return client.endpoints().flatMap(({ endpoint, state, routes }) =>
    [{ route: '', state }, ...routes].flatMap(({ route, state }) => {
      const current = state === 'open' || state === 'half_open' ? state : 'closed';
      return BREAKER_STATES.map((one) => ({
        labels: { module, endpoint, state: one, route },
        value: Number(one === current),
      }));
    }),
  );
}

function readEndpoints(module: string, client: ProviderClient): Sample[] {
  return client.endpoints().map(({ endpoint, state }) => ({
    labels: { module, endpoint },
    value: Number(state === 'up'),
  }));
}

function readUncaughtErrors(records: readonly ModuleRecord[]): Sample[] {
  const byName = new Map<string, number>();
  for (const { name, uncaughtErrors } of records) {
    if (name !== null) byName.set(name, (byName.get(name) ?? 0) + uncaughtErrors);
  }
  return [...byName].map(([module, value]) => ({ labels: { module }, value }));
}

/** Counts descriptors: two files can claim one name, and several can have none. */
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

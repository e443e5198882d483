import { compareRecords } from '../../modules/module-record.js';
import type { FileStatus } from '../../modules/status-files.js';
import type { Processes } from '../../processes.js';
import { mergeFacts } from '../../provider/provider-facts.js';
import { type MergedStatus, mergeStatus } from './merge-status.js';
import {
  describeModules,
  type EndpointEntry,
  type ModuleEntry,
  type ModuleList,
  type ModuleOverview,
  type ModuleRecords,
} from './module-overview.js';
import type { KnownModules } from './shared-module-files.js';

type ProcessModules = Pick<ModuleList, 'modules' | 'ignored'>;

/** The overview of a host, over all of its processes. */
export function shareModuleOverview(
  processes: Pick<Processes, 'share'>,
  records: ModuleRecords,
): ModuleOverview {
  const askAll = processes.share<null, ProcessModules, KnownModules>('modules', async () => ({
    modules: await describeModules(records.list()),
    ignored: records.ignored,
  }));
  return {
    read: async () => {
      const { answers, workers, known } = await askAll(null);
      const serving = answers.filter(({ isServing }) => isServing);
      const [first] = serving;
      if (known === null && serving.length === 1 && first !== undefined) {
        return { ...first.answer, workers };
      }
      const reports = serving.map(({ worker, answer }) => ({ worker, ...answer }));
      return { ...mergeModules(reports, (file) => known?.get(file) ?? null), workers };
    },
  };
}

interface ReportedModules extends Pick<ModuleList, 'modules' | 'ignored'> {
  readonly worker: number;
}

interface ReportedEntry extends ModuleEntry {
  readonly worker: number;
}

/**
 * Merges the lists of all workers: counts are summed, states are merged.
 * @param readStatus the merged status of a file; `null` if no worker has reported one
 */
export function mergeModules(
  reports: readonly ReportedModules[],
  readStatus: (file: string) => MergedStatus<FileStatus> | null,
): Pick<ModuleList, 'modules' | 'ignored'> {
  const byFile = new Map<string, ReportedEntry[]>();
  for (const { worker, modules } of reports) {
    for (const entry of modules) {
      byFile.set(entry.file, [...(byFile.get(entry.file) ?? []), { ...entry, worker }]);
    }
  }
  const modules = [...byFile].map(([file, entries]) => mergeEntries(entries, readStatus(file)));
  return { modules: modules.sort(compareRecords), ignored: reports[0]?.ignored ?? [] };
}

function mergeEntries(
  entries: readonly ReportedEntry[],
  status: MergedStatus<FileStatus> | null,
): ModuleEntry {
  const merged = status ?? mergeStatus(entries.map((entry) => ({ worker: entry.worker, entry })));
  const [first] = entries;
  if (first === undefined || merged === null) throw new Error('no worker has the descriptor');
  const { worker: _, ...base } = entries.find(({ state }) => state === merged.state) ?? first;
  const total = (name: keyof ModuleEntry['counts']) =>
    sum(entries.map(({ counts }) => counts[name] ?? 0));
  const streams = total('streams');
  const facts = mergeFacts(entries.map(({ facts = [] }) => facts));
  return {
    ...base,
    ...pickState(merged),
    counts: {
      calls: total('calls'),
      failed: total('failed'),
      in_flight: total('in_flight'),
      queued: total('queued'),
      ...(streams > 0 && { streams }),
    },
    ...(facts.length > 0 && { facts }),
    endpoints: base.endpoints.map(({ endpoint }) => mergeEndpoint(endpoint, entries)),
    ...(merged.workers !== undefined && { workers: merged.workers }),
  };
}

/** Picks the fields that a status file and `GET /modules` share. */
function pickState(status: Omit<FileStatus, 'module'>) {
  return {
    state: status.state,
    digest: status.digest,
    config_digest: status.config_digest,
    file_digest: status.file_digest,
    rejected_digest: status.rejected_digest,
    rejected_manifest_digest: status.rejected_manifest_digest,
    rejected_config_digest: status.rejected_config_digest,
    since: status.since,
    reason: status.reason,
    hint: status.hint,
  };
}

const BEST_FIRST: readonly EndpointEntry['state'][] = ['up', 'half_open', 'down', 'open'];

/** Each worker has its own circuit breaker: an endpoint is up while one worker still calls it. */
function mergeEndpoint(endpoint: string, entries: readonly ReportedEntry[]): EndpointEntry {
  const reported = entries.flatMap(({ worker, endpoints }) =>
    endpoints.filter((entry) => entry.endpoint === endpoint).map((entry) => ({ worker, ...entry })),
  );
  const state = BEST_FIRST.find((best) => reported.some((entry) => entry.state === best)) ?? 'up';
  const isSame = reported.every((entry) => entry.state === state);
  const until = isSame
    ? (reported.flatMap(({ until }) => until ?? []).toSorted()[0] ?? null)
    : null;
  return {
    endpoint,
    state,
    in_flight: sum(reported.map(({ in_flight }) => in_flight)),
    calls: sum(reported.map(({ calls }) => calls)),
    failures: sum(reported.map(({ failures }) => failures)),
    until,
    routes: mergeRoutes(reported),
    ...(!isSame && {
      workers: reported.map((entry) => ({ worker: entry.worker, state: entry.state })),
    }),
  };
}

/** A route is listed while its breaker is open or half-open in every worker. */
function mergeRoutes(entries: readonly EndpointEntry[]): EndpointEntry['routes'] {
  const [first] = entries;
  return (first?.routes ?? []).flatMap(({ route }) => {
    const same = entries.flatMap(({ routes }) => routes.filter((entry) => entry.route === route));
    if (same.length < entries.length) return [];
    const isHalfOpen = same.some(({ state }) => state === 'half_open');
    const until = same.flatMap((entry) => entry.until ?? []).toSorted()[0] ?? null;
    return [{ route, state: isHalfOpen ? 'half_open' : 'open', until: isHalfOpen ? null : until }];
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

import type { FileStatus } from '../modules/status-files.js';
import type { EndpointEntry, ModuleEntry, ModuleList } from '../operations/status/module-list.js';
import { type MergedStatus, mergeStatus } from './merge-status.js';

/** What one worker tells. */
export interface ReportedModules extends Pick<ModuleList, 'modules' | 'ignored'> {
  readonly worker: number;
}

interface ReportedEntry extends ModuleEntry {
  readonly worker: number;
}

/**
 * One list of what all workers tell: counts are sums, and the state of a descriptor is the word of all.
 * @param readWord what all workers have said of a file; `null` where they have not
 */
export function mergeModules(
  told: readonly ReportedModules[],
  readWord: (file: string) => MergedStatus<FileStatus> | null,
): Pick<ModuleList, 'modules' | 'ignored'> {
  const byFile = new Map<string, ReportedEntry[]>();
  for (const { worker, modules } of told) {
    for (const entry of modules) {
      byFile.set(entry.file, [...(byFile.get(entry.file) ?? []), { ...entry, worker }]);
    }
  }
  const modules = [...byFile].map(([file, entries]) => mergeEntries(entries, readWord(file)));
  return { modules: modules.sort(compareEntries), ignored: told[0]?.ignored ?? [] };
}

function mergeEntries(
  entries: readonly ReportedEntry[],
  word: MergedStatus<FileStatus> | null,
): ModuleEntry {
  const spoken = word ?? mergeStatus(entries.map((entry) => ({ worker: entry.worker, entry })));
  const [first] = entries;
  if (first === undefined || spoken === null) throw new Error('a descriptor was told by nobody');
  const { worker: _, ...base } = entries.find(({ state }) => state === spoken.state) ?? first;
  const total = (name: keyof ModuleEntry['counts']) =>
    sum(entries.map(({ counts }) => counts[name]));
  return {
    ...base,
    ...pickState(spoken),
    counts: {
      calls: total('calls'),
      failed: total('failed'),
      in_flight: total('in_flight'),
      queued: total('queued'),
    },
    endpoints: base.endpoints.map(({ endpoint }) => mergeEndpoint(endpoint, entries)),
    ...(spoken.workers !== undefined && { workers: spoken.workers }),
  };
}

/** What is said of a descriptor alike in its status file and in `GET /modules`. */
function pickState(word: Omit<FileStatus, 'module'>) {
  return {
    state: word.state,
    digest: word.digest,
    config_digest: word.config_digest,
    file_digest: word.file_digest,
    rejected_digest: word.rejected_digest,
    rejected_manifest_digest: word.rejected_manifest_digest,
    rejected_config_digest: word.rejected_config_digest,
    since: word.since,
    reason: word.reason,
    hint: word.hint,
  };
}

const BEST_FIRST: readonly EndpointEntry['state'][] = ['up', 'half_open', 'down', 'open'];

/** Each worker has a breaker of its own: an endpoint gets calls as long as one of them lets it. */
function mergeEndpoint(endpoint: string, entries: readonly ReportedEntry[]): EndpointEntry {
  const found = entries.flatMap(({ worker, endpoints }) =>
    endpoints.filter((one) => one.endpoint === endpoint).map((one) => ({ worker, ...one })),
  );
  const state = BEST_FIRST.find((best) => found.some((one) => one.state === best)) ?? 'up';
  const isSame = found.every((one) => one.state === state);
  const until = isSame ? (found.flatMap((one) => one.until ?? []).toSorted()[0] ?? null) : null;
  return {
    endpoint,
    state,
    in_flight: sum(found.map((one) => one.in_flight)),
    calls: sum(found.map((one) => one.calls)),
    failures: sum(found.map((one) => one.failures)),
    until,
    routes: mergeRoutes(found),
    ...(!isSame && { workers: found.map((one) => ({ worker: one.worker, state: one.state })) }),
  };
}

/** A route is listed while its breaker is open or half-open in every worker. */
function mergeRoutes(found: readonly EndpointEntry[]): EndpointEntry['routes'] {
  const [first] = found;
  return (first?.routes ?? []).flatMap(({ route }) => {
    const same = found.flatMap(({ routes }) => routes.filter((one) => one.route === route));
    if (same.length < found.length) return [];
    const isHalfOpen = same.some(({ state }) => state === 'half_open');
    const until = same.flatMap((one) => one.until ?? []).toSorted()[0] ?? null;
    return [{ route, state: isHalfOpen ? 'half_open' : 'open', until: isHalfOpen ? null : until }];
  });
}

/** As a host of one process sorts them. */
function compareEntries(a: ModuleEntry, b: ModuleEntry): number {
  return compare(a.name ?? '', b.name ?? '') || compare(a.file, b.file);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

import type { ModuleState } from '../../modules/module-record.js';

/** The fields about one descriptor in which workers may differ. */
interface WorkerStatus {
  readonly state: ModuleState;
  readonly config_digest: string | null;
  readonly file_digest: string | null;
  readonly since: string;
  readonly reason: string | null;
  readonly hint: string | null;
}

/** The status that one worker reports; `null` while it does not have the descriptor. */
export interface WorkerReport<T> {
  readonly worker: number;
  readonly entry: T | null;
}

/** `workers` lists each worker's status if they differ. */
export type MergedStatus<T> = T & { readonly workers?: readonly object[] };

/** The state that needs attention most comes first. */
const WORST_FIRST: readonly ModuleState[] = [
  'refused',
  'stale',
  'faulted',
  'rolled_back',
  'waiting',
  'disabled',
  'draining',
  'live',
];

/**
 * Merges the reports of all workers into the worst one. A module is `live` only if every worker
 * serves the same version of it. Returns `null` if no worker has the descriptor.
 */
export function mergeStatus<T extends WorkerStatus>(
  reports: readonly WorkerReport<T>[],
): MergedStatus<T> | null {
  const entries = reports.flatMap(({ entry }) => entry ?? []);
  const [worst] = entries.toSorted((a, b) => rank(a) - rank(b));
  if (worst === undefined) return null;
  const agreeing = entries.filter((entry) => agrees(entry, worst));
  if (agreeing.length === reports.length) return { ...worst, since: latest(entries) };
  const workers = reports.map(({ worker, entry }) => ({
    worker,
    state: entry?.state ?? null,
    config_digest: entry?.config_digest ?? null,
    reason: entry?.reason ?? null,
  }));
  if (worst.state !== 'live') return { ...worst, workers };
  const reason = `${agreeing.length} of ${reports.length} workers serve this version`;
  return { ...worst, state: 'waiting', reason, hint: 'the others should follow soon', workers };
}

function agrees(a: WorkerStatus, b: WorkerStatus): boolean {
  return (
    a.state === b.state && a.config_digest === b.config_digest && a.file_digest === b.file_digest
  );
}

function rank({ state }: WorkerStatus): number {
  return WORST_FIRST.indexOf(state);
}

function latest(entries: readonly WorkerStatus[]): string {
  return entries.reduce((last, { since }) => (since > last ? since : last), '');
}

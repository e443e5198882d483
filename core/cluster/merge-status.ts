import type { ModuleState } from '../modules/module-states.js';

/** What is compared of what several workers say of one descriptor. */
export interface WorkerStatus {
  readonly state: ModuleState;
  readonly config_digest: string | null;
  readonly file_digest: string | null;
  readonly since: string;
  readonly reason: string | null;
  readonly hint: string | null;
}

/** What one worker says; `null` where it has no such descriptor, not yet or not any more. */
export interface WorkerReport<T> {
  readonly worker: number;
  readonly entry: T | null;
}

/** `workers` where they differ: what each of them says. */
export type MergedStatus<T> = T & { readonly workers?: readonly object[] };

/** From the state that ops must know of first to the one that is as it should be. */
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
 * One word for all workers: that of the one in the worst state. A module is only `live` where every worker
 * serves the same version of it; where they differ, `workers` says how.
 */
export function mergeStatus<T extends WorkerStatus>(
  words: readonly WorkerReport<T>[],
): MergedStatus<T> | null {
  const entries = words.flatMap(({ entry }) => entry ?? []);
  const [worst] = entries.toSorted((a, b) => rank(a) - rank(b));
  if (worst === undefined) return null;
  const agreeing = entries.filter((entry) => agrees(entry, worst));
  if (agreeing.length === words.length) return { ...worst, since: latest(entries) };
  const workers = words.map(({ worker, entry }) => ({
    worker,
    state: entry?.state ?? null,
    config_digest: entry?.config_digest ?? null,
    reason: entry?.reason ?? null,
  }));
  if (worst.state !== 'live') return { ...worst, workers };
  const reason = `${agreeing.length} of ${words.length} workers serve this version`;
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

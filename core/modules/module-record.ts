import type { Descriptor } from '../descriptor/descriptor.js';
import { type Diagnostic, formatDiagnostic, InvalidFile } from '../document/diagnostic.js';
import type { LiveModule } from './live-module.js';

/** The states of a descriptor (design 4). */
export type ModuleState =
  | 'waiting'
  | 'live'
  | 'stale'
  | 'refused'
  | 'faulted'
  | 'draining'
  | 'disabled'
  | 'rolled_back';

export const MODULE_STATES: readonly ModuleState[] = [
  'waiting',
  'live',
  'stale',
  'refused',
  'faulted',
  'draining',
  'disabled',
  'rolled_back',
];

/** What the host made of one descriptor: its state, why, and since when. */
export interface ModuleRecord {
  readonly file: string;
  /** `null` where the descriptor could not be read. */
  readonly name: string | null;
  readonly state: ModuleState;
  readonly since: Date;
  readonly reason: string | null;
  readonly hint: string | null;
  /** How often the host has asked for the manifest of the version that is to serve. */
  readonly attempts: number;
  /** What the file says, or said when it was last good. */
  readonly descriptor: Descriptor | null;
  /** What serves; `null` when nothing does. */
  readonly live: LiveModule | null;
  /** Of the descriptor's text that is in force; `null` when none is. */
  readonly fileDigest: string | null;
  /** What the file says now, when that is not what serves because it is bad; else `null`. */
  readonly rejected: RejectedDigests | null;
  /** How many errors the code of the module left uncaught, over all its versions. */
  readonly strays: number;
}

/** As far as each could be known. */
export interface RejectedDigests {
  /** Of the descriptor's text. */
  readonly file: string | null;
  readonly manifest: string | null;
  readonly config: string | null;
}

/** The states of a file that does not serve as it is. */
export const REJECTED_STATES: ReadonlySet<ModuleState> = new Set([
  'refused',
  'stale',
  'rolled_back',
]);

export interface StateReason {
  readonly reason: string;
  readonly hint: string | null;
}

/** Why something cannot serve, in words for ops: never a stack, never a value. */
export function explainError(error: unknown): StateReason {
  if (error instanceof InvalidFile) return explainFindings(error.diagnostics);
  const reason = error instanceof Error ? error.message : 'failed for a reason that is no error';
  const hint =
    typeof error === 'object' && error !== null && 'hint' in error && typeof error.hint === 'string'
      ? error.hint
      : null;
  return { reason, hint };
}

/** All errors in one reason; the hint is that of the first one that has any. */
function explainFindings(findings: readonly Diagnostic[]): StateReason {
  const errors = findings.filter((finding) => finding.severity === 'error');
  return {
    reason: errors.map((finding) => formatDiagnostic({ ...finding, hint: null })).join('; '),
    hint: errors.find((finding) => finding.hint !== null)?.hint ?? null,
  };
}

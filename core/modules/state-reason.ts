import { type Diagnostic, formatDiagnostic, InvalidFile } from '../document/diagnostic.js';
import { toError } from '../lib/to-error.js';

/** The reason of a module's state, for operators: never a stack, never a configured value. */
export interface StateReason {
  readonly reason: string;
  readonly hint: string | null;
}

/** Converts an error to the reason that operators see. */
export function explainError(error: unknown): StateReason {
  if (error instanceof InvalidFile) return explainDiagnostics(error.diagnostics);
  const hint =
    typeof error === 'object' && error !== null && 'hint' in error && typeof error.hint === 'string'
      ? error.hint
      : null;
  return { reason: toError(error).message, hint };
}

/** All errors in one reason, with the first hint. */
function explainDiagnostics(diagnostics: readonly Diagnostic[]): StateReason {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return {
    reason: errors.map((error) => formatDiagnostic({ ...error, hint: null })).join('; '),
    hint: errors.find(({ hint }) => hint !== null)?.hint ?? null,
  };
}

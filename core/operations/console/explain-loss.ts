/**
 * What a value that came as JSON must be to be kept as it came; `null` for one that is. JSON admits halves of
 * surrogate pairs, which have no canonical form, and numbers that no double holds, which would become `null`.
 */
export function explainLoss(value: unknown): string | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : 'text in whole characters';
  if (typeof value === 'number')
    return Number.isFinite(value) ? null : 'within the range of a double';
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const loss = explainLoss(name) ?? explainLoss(member);
    if (loss !== null) return loss;
  }
  return null;
}

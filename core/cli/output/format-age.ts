const AGE_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** `12s`, `3m`, `5h` or `2d`, rounded down; `-` for NaN. */
export function formatAge(ms: number): string {
  if (Number.isNaN(ms)) return '-';
  for (const [unit, unitMs] of AGE_UNITS) {
    if (ms >= unitMs) return `${Math.floor(ms / unitMs)}${unit}`;
  }
  return `${Math.max(0, Math.floor(ms / 1000))}s`;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param share 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function toMs(value: number): string {
  return `${value.toFixed(1)} ms`;
}

export function toMib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

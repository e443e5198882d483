import type { Workplace } from './run-in.js';

export interface CheckReport {
  readonly summary: object;
  readonly files: readonly Record<string, unknown>[];
  readonly findings: readonly Record<string, unknown>[];
  readonly notes: readonly Record<string, unknown>[];
  readonly ignored: readonly Record<string, unknown>[];
}

/** Runs `modgate check … --json` in the folder. */
export async function checkJsonIn(
  place: Workplace,
  ...args: readonly string[]
): Promise<CheckReport & { readonly code: number | null }> {
  const { code, stdout } = await place.run(['check', ...args, '--json']);
  return { code, ...(JSON.parse(stdout) as CheckReport) };
}

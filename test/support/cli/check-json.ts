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

/** Checks a file alone. @returns its findings: line, rule and message */
export async function listFindings(
  place: Workplace,
  file: object,
  ...args: readonly string[]
): Promise<readonly string[]> {
  place.write('file.json', JSON.stringify(file, null, 1));
  const { findings } = await checkJsonIn(place, 'file.json', ...args);
  return findings.map(({ line, rule, message }) => `${line} ${rule} ${message}`);
}

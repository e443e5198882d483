import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The suite is frozen: a later one may require more. It needs a later Node.js than the host. */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const PACKAGES = ['-y', '-p', 'node@24', '-p', SUITE];

interface Check {
  readonly id: string;
  readonly status: string;
}

/** @returns `null` if the suite can be run, otherwise what is missing */
export function findMissing(): string | null {
  const { status } = spawnSync('npx', [...PACKAGES, 'conformance', '--version']);
  return status === 0 ? null : `${SUITE} cannot be installed`;
}

/** @returns what the suite prints; it fails for scenarios that the host does not have. */
export function runSuite(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const commandLine = [...PACKAGES, 'conformance', ...args];
    execFile('npx', commandLine, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

/** The checks below a folder of results, by the folder of their scenario. */
export function readChecks(results: string): Map<string, readonly Check[]> {
  const files = readdirSync(results, { recursive: true, encoding: 'utf8' });
  return new Map(
    files
      .filter((file) => file.endsWith('checks.json'))
      .map((file) => [dirname(file), JSON.parse(readFileSync(join(results, file), 'utf8'))]),
  );
}

/** The ids of the checks that failed, sorted. */
export function listFailed(checks: readonly Check[]): string[] {
  return checks
    .filter(({ status }) => status === 'FAILURE')
    .map(({ id }) => id)
    .sort();
}

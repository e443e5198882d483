import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string>>;

/**
 * The URLs of the files that a process has loaded.
 * @param directory for the report of V8
 * @param run starts the process with these variables, and resolves when it has exited with code 0
 */
export async function listLoadedFiles(
  directory: string,
  env: Environment,
  run: (env: Environment) => Promise<void>,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(directory, 'loaded-'));
  await run({ ...env, NODE_V8_COVERAGE: folder });
  const reports = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return reports.flatMap((text) =>
    (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url),
  );
}

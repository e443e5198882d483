import { spawnModgate } from '../start-host.js';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `modgate` until it exits. */
export async function runModgate(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const spawned = spawnModgate(args, env);
  const { code } = await spawned.exit;
  return { code, stdout: spawned.stdout(), stderr: spawned.stderr() };
}

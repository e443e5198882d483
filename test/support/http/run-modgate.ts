import { type Exit, spawnModgate } from '../start-host.js';

export interface Finished extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

const DEADLINE_MS = 30_000;

/** Runs `modgate` until it exits. @throws when it still runs at the deadline. */
export async function runModgate(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<Finished> {
  const spawned = spawnModgate(args, env);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    spawned.child.kill('SIGKILL');
  }, DEADLINE_MS);
  const exit = await spawned.exit;
  clearTimeout(timer);
  const finished = { ...exit, stdout: spawned.stdout(), stderr: spawned.stderr() };
  if (isLate) throw new Error(`still running after ${DEADLINE_MS} ms: ${JSON.stringify(finished)}`);
  return finished;
}

import { type Exit, spawnModgate } from '../start-host.js';
import { type Ended, runHere } from './run-here.js';

export interface Finished extends Exit, Ended {
  readonly code: number | null;
}

const DEADLINE_MS = 120_000;

/** Runs `modgate` until it ends. */
export async function runModgate(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  if (!needsProcess(args)) return runHere(args, env);
  const { code, stdout, stderr } = await runProcess(args, env);
  return { code, stdout, stderr };
}

/** Whether it runs until a signal, or loads code that may end or disturb a process. */
function needsProcess([command, ...others]: readonly string[]): boolean {
  return command === 'test-plugin' || (command === 'serve' && !others.includes('--check'));
}

/**
 * Runs `modgate` in a process of its own until it exits.
 * @throws when it still runs at the deadline.
 */
export async function runProcess(
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

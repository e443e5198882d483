import { expect } from 'chai';
import { describeCommandFailure } from '../../../core/cli/run-cli.js';
import { type Environment, openHost } from '../open-host.js';
import type { Ended } from './run-here.js';

/**
 * Runs `modgate serve` in this process with arguments or files that it rejects.
 * @throws AssertionError if it starts, other errors if it fails for another reason.
 */
export async function rejectStart(args: readonly string[], env?: Environment): Promise<Ended> {
  const lines: string[] = [];
  const started = openHost(args, env, lines);
  const error: unknown = await started.then(
    () => null,
    (reason) => reason,
  );
  if (error === null) {
    await (await started).kill();
    expect.fail(`started: ${args.join(' ')}`);
  }
  const failure = describeCommandFailure(error);
  if (failure === null) throw error;
  return { code: failure.code, stdout: lines.join(''), stderr: `modgate: ${failure.message}\n` };
}

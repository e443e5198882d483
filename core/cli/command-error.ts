import { EXIT, type ExitCode } from './command-module.js';
import { toPrintable } from './output/escape.js';

/** Why a command that was used well cannot do its work: one line on stderr, and exit 1. */
export class CommandError extends Error {
  override readonly name = 'CommandFailure';
}

/** Tells a failure in one line; any other error passes. */
export async function reportFailure(work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`modgate: ${toPrintable(error.message)}\n`);
    return EXIT.failure;
  }
}

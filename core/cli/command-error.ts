import { EXIT, type ExitCode } from './command-module.js';
import { toPrintable } from './output/escape.js';

/** A failure of a command that was called correctly: one line on stderr and exit 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Prints a CommandError in one line. Rethrows other errors. */
export async function reportFailure(work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`modgate: ${toPrintable(error.message)}\n`);
    return EXIT.failure;
  }
}

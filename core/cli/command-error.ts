/** A failure of a command that was called correctly: one line on stderr and exit 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

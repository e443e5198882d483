import type { Command } from 'commander';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { isJsonRequested } from '../setting-options.js';

/** Prints a result: with --json the value, otherwise the text. */
export async function printResult<T>(
  command: Command,
  { print }: CommandContext,
  value: T,
  format: (value: T) => string,
  indent = 0,
): Promise<ExitCode> {
  const json = () => `${JSON.stringify(value, null, indent)}\n`;
  await print(isJsonRequested(command) ? json() : format(value));
  return EXIT.ok;
}

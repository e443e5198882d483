import type { Command } from 'commander';
import type { Struct } from 'superstruct';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { isJsonRequested } from '../setting-options.js';
import type { HostClient } from './host-client.js';
import { openHostClient } from './host-options.js';
import { parseHostResponse, requestText } from './host-response.js';

/**
 * Prints a resource of a host: the response as it is with --json, otherwise what `format` returns.
 * @throws RejectedRequest for an error status; CommandError for an unexpected body.
 */
export async function printResource<T, S>(
  command: Command,
  context: CommandContext,
  path: string,
  struct: Struct<T, S>,
  format: (value: T) => string,
  client: HostClient = openHostClient(command, context),
  headers: Readonly<Record<string, string>> = {},
): Promise<ExitCode> {
  const text = await requestText(client, path, headers);
  const value = parseHostResponse(client, text, struct);
  await context.print(isJsonRequested(command) ? `${text}\n` : format(value));
  return EXIT.ok;
}

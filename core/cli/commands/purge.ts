import type { Command } from 'commander';
import { MODULE_NAME } from '../../descriptor/identifiers.js';
import { ConfigError } from '../../errors.js';
import { parsePurgedPath } from '../../operations/cache/purged-path.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { removeResource } from '../client/host-response.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { printResult } from '../output/print-result.js';
import { addJsonOption } from '../setting-options.js';

const HELP = `
Needs the scope modgate.cache.purge. PATH is the path of the calls below
/modules/MODULE/http, without the query; /items/* is all below /items. All
workers purge within a second.`;

export function define(command: Command): void {
  command
    .argument('<module>', 'Configured name of the module')
    .argument('[path]', 'Path of the calls; by default all of the module')
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'what was purged');
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [module = '', path] = command.args;
  if (!MODULE_NAME.test(module)) throw new ConfigError('the module must be the name of a module');
  if (path !== undefined && parsePurgedPath(path) === null) {
    throw new ConfigError(
      "the path must be one of a call, without its query, such as /items/7, or end with '/*'",
    );
  }
  const query = new URLSearchParams({ module, ...(path !== undefined && { path }) });
  await removeResource(openHostClient(command, context), `/cache?${query}`);
  const name = toPrintable(path === undefined ? module : `${module} ${path}`);
  const result = { module, path: path ?? null };
  return printResult(command, context, result, () => `purged ${name}\n`);
}

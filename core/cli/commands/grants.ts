import type { Command } from 'commander';
import { assertValidFile } from '../../document/parse-file.js';
import { PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { formatGrants } from '../grants/format-grants.js';
import type { GrantsReport } from '../grants/grants-report.js';
import { readGrants } from '../grants/read-grants.js';
import { openDescriptors } from '../open-descriptors.js';
import { addJsonOption, addSettings, wantsJson } from '../setting-options.js';

const HELP = `
Does not call a host or provider. Every permission that is both granted and
declared also opens config values, contributions and metadata. Exits with 0
for any difference, with 2 for an invalid file.`;

export function define(command: Command): void {
  command
    .argument('<module>', 'Module name, as configured in its descriptor')
    .addHelpText('after', HELP);
  addJsonOption(command, 'the report');
  addSettings(command, ['modules', ...PLUGIN_SETTINGS]);
}

/** Prints the grants of consoles, the permissions of the manifest and the differences. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const report = await read(command, context);
  await context.print(
    wantsJson(command) ? `${JSON.stringify(report, null, 2)}\n` : formatGrants(report),
  );
  return EXIT.ok;
}

async function read(command: Command, context: CommandContext): Promise<GrantsReport> {
  const { path, descriptors } = await openDescriptors([], command, context);
  const [module = ''] = command.args;
  try {
    return await readGrants(module, path, descriptors);
  } catch (error) {
    throw assertValidFile(error);
  }
}

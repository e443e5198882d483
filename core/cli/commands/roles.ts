import type { Command } from 'commander';
import type { Listing } from '../../operations/listing.js';
import { ROLES } from '../../operations/status/list-roles.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { formatListing } from '../output/listing.js';
import { printResult } from '../output/print-result.js';
import { addRoleOptions, readRoleReport } from '../roles/read-roles.js';
import { addJsonOption } from '../setting-options.js';

const HELP = `
Without --url it reads the roles file and the folder of descriptors, and calls
no host or provider. A scope that no module declares opens nothing. modgate
grants --role NAME shows one role with the scopes of the roles that it names.`;

export function define(command: Command): void {
  addJsonOption(command, 'the roles as GET /roles returns them');
  command.addHelpText('after', HELP);
  addRoleOptions(command);
}

/** Lists roles and what their scopes open. Exits with 0 even if some have no effect. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const report = await readRoleReport(command, context);
  const format = () => formatListing(ROLES.listing as Listing, report);
  return printResult(command, context, report, format, 2);
}

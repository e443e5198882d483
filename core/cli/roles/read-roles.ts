import type { Command } from 'commander';
import { parseRolesFile } from '../../auth/role-table.js';
import { type RoleReport, roleReport } from '../../contract/role-report.js';
import { readFileText } from '../../document/read-file.js';
import { ConfigError } from '../../errors.js';
import { createRoleReport, type ReportedModule } from '../../operations/status/role-report.js';
import { PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { type CheckedDescriptor, checkDescriptors } from '../check/check-descriptors.js';
import { addCredentialOptions, openHostClient } from '../client/host-options.js';
import { requestJson } from '../client/host-response.js';
import type { CommandContext } from '../command-module.js';
import { openDescriptors } from '../open-descriptors.js';
import { addSettings } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

const FILE_SETTINGS = ['roles', 'modules', ...PLUGIN_SETTINGS] as const;

export function addRoleOptions(command: Command): void {
  command.option('--url <url>', 'Show the roles of a running host');
  addCredentialOptions(command);
  addSettings(command, FILE_SETTINGS);
  addUselessOptions(command, {
    'without --url': ['token', 'ca'],
    'with --url': ['config', ...FILE_SETTINGS],
  });
}

/** @throws ConfigError for files that are missing or invalid; CommandError without a host at `--url`. */
export async function readRoleReport(
  command: Command,
  context: CommandContext,
): Promise<RoleReport> {
  if (command.opts<{ url?: string }>().url === undefined) {
    return readFiles(command, context);
  }
  return requestJson(openHostClient(command, context), '/roles', roleReport);
}

async function readFiles(command: Command, context: CommandContext): Promise<RoleReport> {
  const { config, path, descriptors } = await openDescriptors(['roles'], command, context);
  if (config.roles === null) {
    throw new ConfigError('no roles file is configured: set --roles FILE or MODGATE_ROLES');
  }
  const table = parseRolesFile(config.roles, await readFileText(config.roles));
  const checked = await checkDescriptors(path, descriptors);
  return createRoleReport(table, listReportedModules(checked.descriptors));
}

export function listReportedModules(
  checked: readonly Pick<CheckedDescriptor, 'module' | 'prepared'>[],
): ReportedModule[] {
  return checked
    .filter(({ prepared }) => prepared?.descriptor.enabled !== false)
    .map(({ module, prepared }) => ({
      name: module,
      manifest: prepared?.manifest?.manifest ?? null,
    }));
}

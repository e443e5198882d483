import type { Command } from 'commander';
import { array, boolean, nullable, string, type } from 'superstruct';
import { parseRolesFile, RoleTable } from '../../auth/role-table.js';
import type { ReportedScope, RoleReport } from '../../contract/role-report.js';
import { assertValidFile } from '../../document/parse-file.js';
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
import { rejectOptions } from '../useless-options.js';

/** The fields of `GET /roles` that the commands use. */
const ROLE_REPORT = type({
  roles: array(
    type({
      name: string(),
      description: nullable(string()),
      scopes: array(string()),
      roles: array(string()),
    }),
  ),
  scopes: array(
    type({
      scope: string(),
      declared: nullable(boolean()),
      modules: array(type({ module: string(), opens: array(string()) })),
    }),
  ),
  not_declared: array(string()),
});

const FILE_SETTINGS = ['roles', 'modules', ...PLUGIN_SETTINGS] as const;

export function addRoleOptions(command: Command): void {
  command.option('--url <url>', 'Show the roles of a running host');
  addCredentialOptions(command);
  addSettings(command, FILE_SETTINGS);
}

/** @throws ConfigError for files that are missing or invalid; CommandError without a host at `--url`. */
export async function readRoleReport(
  command: Command,
  context: CommandContext,
): Promise<RoleReport> {
  if (command.opts<{ url?: string }>().url === undefined) {
    rejectOptions(command, ['token', 'ca'], 'without --url');
    return readFiles(command, context);
  }
  rejectOptions(command, ['config', ...FILE_SETTINGS], 'with --url');
  return requestJson(openHostClient(command, context), '/roles', ROLE_REPORT);
}

async function readFiles(command: Command, context: CommandContext): Promise<RoleReport> {
  const { config, path, descriptors } = await openDescriptors(['roles'], command, context);
  if (config.roles === null) {
    throw new ConfigError('no roles file is configured: set --roles FILE or MODGATE_ROLES');
  }
  try {
    const table = parseRolesFile(config.roles, await readFileText(config.roles));
    const checked = await checkDescriptors(path, descriptors);
    return createRoleReport(table, listReportedModules(checked.descriptors));
  } catch (error) {
    throw assertValidFile(error);
  }
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

/** Creates a table of the roles of a report, including the scopes of the roles that they name. */
export function createReportedTable({ roles }: RoleReport): RoleTable {
  return new RoleTable(
    Object.fromEntries(
      roles.map(({ name, description, scopes, roles: included }) => [
        name,
        {
          ...(description !== null && { description }),
          scopes: [...scopes],
          roles: [...included],
        },
      ]),
    ),
  );
}

/** `crm: GET /items, entity contacts` */
export function describeScope({ declared, modules }: ReportedScope): string {
  if (modules.length > 0) return modules.map(describeModule).join('; ');
  if (declared === true) return 'rights of the host';
  if (declared === false) return 'nothing: no module declares it';
  return 'unknown: the manifest of a module is not known';
}

function describeModule({ module, opens }: ReportedScope['modules'][number]): string {
  return opens.length === 0 ? `${module}: contributions` : `${module}: ${opens.join(', ')}`;
}

import type { Command } from 'commander';
import type { ReportedScope, RoleReport } from '../../contract/role-report.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { addRoleOptions, describeScope, readRoleReport } from '../roles/read-roles.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';

const HELP = `
Without --url it reads the roles file and the folder of descriptors, and calls
no host or provider. A scope that no module declares opens nothing. modgate
grants --role NAME shows one role with the scopes of the roles that it names.`;

export function define(command: Command): void {
  addRoleOptions(command);
  addJsonOption(command, 'the roles as GET /roles returns them');
  command.addHelpText('after', HELP);
}

/** Lists roles and what their scopes open. Exits with 0 even if some have no effect. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const report = await readRoleReport(command, context);
  await context.print(
    isJsonRequested(command) ? `${JSON.stringify(report, null, 2)}\n` : formatRoles(report),
  );
  return EXIT.ok;
}

function formatRoles({ roles, scopes }: RoleReport): string {
  if (roles.length === 0) return 'no roles\n';
  const opened = new Map(scopes.map((entry) => [entry.scope, entry]));
  return roles
    .map((role) => `${formatRole(role, opened).map(toPrintable).join('\n')}\n`)
    .join('\n');
}

function formatRole(
  { name, description, scopes, roles }: RoleReport['roles'][number],
  opened: ReadonlyMap<string, ReportedScope>,
): string[] {
  const width = Math.max(0, ...scopes.map((scope) => scope.length));
  return [
    description === null ? name : `${name}: ${description}`,
    ...(roles.length === 0 ? [] : [`  has the scopes of ${roles.join(', ')}`]),
    ...scopes.flatMap((scope) => {
      const entry = opened.get(scope);
      return entry === undefined ? [] : `  ${scope.padEnd(width)}  ${describeScope(entry)}`;
    }),
  ];
}

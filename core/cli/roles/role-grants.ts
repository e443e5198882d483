import type { ReportedScope, RoleReport } from '../../contract/role-report.js';
import { suggestName } from '../../document/suggest.js';
import { ConfigError } from '../../errors.js';
import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import { createReportedTable, describeScope } from './read-roles.js';

/** The output of `modgate grants --role NAME --json`, with wire names. */
interface RoleGrants {
  readonly role: string;
  readonly description: string | null;
  /** The roles whose scopes it includes. */
  readonly roles: readonly string[];
  /** The scopes, including those of included roles. */
  readonly scopes: readonly (ReportedScope & {
    /** The role that lists it. */
    readonly from: string;
  })[];
  /** The scopes that no module declares. */
  readonly not_declared: readonly string[];
}

/** @throws ConfigError for a role that is missing in the report. */
export function findRoleGrants(name: string, report: RoleReport): RoleGrants {
  const role = createReportedTable(report).get(name);
  if (role === undefined) throw createUnknownRole(name, report);
  const opened = new Map(report.scopes.map((entry) => [entry.scope, entry]));
  const scopes = [...role.scopes].flatMap(([scope, from]) => {
    const entry = opened.get(scope);
    return entry === undefined ? [] : { ...entry, from };
  });
  return {
    role: role.name,
    description: role.description,
    roles: role.roles,
    scopes,
    not_declared: scopes.filter(({ declared }) => declared === false).map(({ scope }) => scope),
  };
}

function createUnknownRole(name: string, { roles }: RoleReport): ConfigError {
  const hint = suggestName(
    name,
    roles.map((role) => role.name),
  );
  return new ConfigError(`there is no role '${name}'${hint === null ? '' : `: ${hint}`}`);
}

export function formatRoleGrants({ role, description, roles, scopes }: RoleGrants): string {
  const subjects = [
    `role         ${role}`,
    ...(description === null ? [] : [`description  ${description}`]),
    ...(roles.length === 0 ? [] : [`roles        ${roles.join(', ')}`]),
  ];
  const columns = ['scope', 'from', 'opens'];
  const table = formatTable(
    columns,
    scopes.map((entry) => [entry.scope, entry.from, describeScope(entry)]),
  );
  const lines = scopes.length === 0 ? subjects : [...subjects, '', ...table];
  return `${lines.map(toPrintable).join('\n')}\n`;
}

import { type ActorMapping, parseIssuersFile } from '../../auth/issuers-file.js';
import { type Role, type RoleTable, readRolesFile } from '../../auth/role-table.js';
import { parseTokenFile } from '../../auth/token-file.js';
import { listPluginAuthenticators } from '../../config/authenticator-list.js';
import type { HostConfig } from '../../config/settings.js';
import type { Actor } from '../../contract/index.js';
import {
  createDiagnostic,
  createFileDiagnostic,
  type Diagnostic,
  type DocumentSource,
  sortDiagnostics,
} from '../../document/diagnostic.js';
import { readFileText } from '../../document/read-file.js';
import { parseCertificateFile } from '../../http/tls/certificate-file.js';
import { createRoleReport, type ReportedModule } from '../../operations/status/role-report.js';
import { listReportedModules } from '../roles/read-roles.js';
import type { CheckedFile } from './check-report.js';

const MAX_NAMES = 10;

/** The roles that a file gives to actors. */
interface RoleSource {
  readonly file: string;
  /** `null` if any role is possible. */
  readonly names: ReadonlySet<string> | null;
}

/**
 * Warns of roles without effect: scopes that no module declares, unknown names, and roles that no
 * actor can have.
 * @param modules `null` if they are unknown
 * @throws InvalidFile for an unusable file.
 */
export async function checkRoles(
  config: HostConfig,
  environment: NodeJS.ProcessEnv,
  modules: readonly CheckedFile[] | null,
): Promise<Diagnostic[]> {
  const sources = await readRoleSources(config, environment);
  const naming = sources.filter(({ names }) => names === null || names.size > 0);
  if (config.roles === null) return naming.map(warnOfMissingFile);
  const { table, source } = readRolesFile(config.roles, await readFileText(config.roles));
  const hasPlugins = listPluginAuthenticators(config.authenticators ?? []).length > 0;
  const isBounded = !hasPlugins && naming.every(({ names }) => names !== null);
  return [
    ...naming.flatMap((file) => warnOfUnknownNames(file, table)),
    ...sortDiagnostics([
      ...warnOfUndeclaredScopes(table, source, listModules(modules)),
      ...(isBounded ? warnOfUnusedRoles(table, source, naming) : []),
    ]),
  ];
}

/** Returns a placeholder with an unknown manifest if the modules are unknown. */
function listModules(files: readonly CheckedFile[] | null): ReportedModule[] {
  if (files === null) return [{ name: null, manifest: null }];
  return listReportedModules(files.filter((file) => file.kind === 'descriptor'));
}

async function readRoleSources(
  { tokens, tlsClients, issuers }: HostConfig,
  environment: NodeJS.ProcessEnv,
): Promise<RoleSource[]> {
  const sources: RoleSource[] = [];
  if (tokens !== null) {
    const actors = parseTokenFile(tokens, await readFileText(tokens));
    sources.push({ file: tokens, names: listRoles(actors.values()) });
  }
  if (tlsClients !== null) {
    const actors = parseCertificateFile(tlsClients, await readFileText(tlsClients));
    sources.push({ file: tlsClients, names: listRoles(actors.values()) });
  }
  if (issuers !== null) {
    const file = await parseIssuersFile(issuers, await readFileText(issuers), environment);
    for (const { actor } of [...file.issuers, ...file.introspection]) {
      sources.push({ file: issuers, names: listMappedRoles(actor) });
    }
  }
  return sources;
}

function listRoles(actors: Iterable<Actor>): ReadonlySet<string> {
  return new Set([...actors].flatMap(({ roles = [] }) => roles));
}

/** Returns `null` if any role is possible. */
function listMappedRoles(mapping: ActorMapping): ReadonlySet<string> | null {
  const { roles = [], role_values: values, allowed_roles: allowed } = mapping;
  if (roles.length === 0) return new Set();
  if (values === undefined) return allowed === undefined ? null : new Set(allowed);
  const names = Object.values(values);
  return new Set(allowed === undefined ? names : names.filter((name) => allowed.includes(name)));
}

function warnOfMissingFile({ file }: RoleSource): Diagnostic {
  const message = 'gives roles to actors, but no roles file is configured: they add no scopes';
  return warnOfFile(file, 'roles-without-file', message, 'name one with --roles FILE');
}

function warnOfUnknownNames({ file, names }: RoleSource, table: RoleTable): Diagnostic[] {
  const unknown = [...(names ?? [])].filter((name) => table.get(name) === undefined);
  if (unknown.length === 0) return [];
  const listed = unknown.slice(0, MAX_NAMES).join(', ');
  const suffix = unknown.length > MAX_NAMES ? ` and ${unknown.length - MAX_NAMES} more` : '';
  const message = `names roles that the roles file does not have: ${listed}${suffix}`;
  return [warnOfFile(file, 'unknown-role', message, 'add them to the roles file')];
}

function warnOfFile(file: string, rule: string, message: string, hint: string): Diagnostic {
  return { ...createFileDiagnostic(file, rule, message), severity: 'warning', hint };
}

function warnOfUndeclaredScopes(
  table: RoleTable,
  source: DocumentSource,
  modules: readonly ReportedModule[],
): Diagnostic[] {
  const undeclared = new Set(createRoleReport(table, modules).not_declared);
  return table.list().flatMap((role) =>
    role.ownScopes.flatMap((scope, index) => {
      if (!undeclared.has(scope)) return [];
      const message = `role '${role.name}' lists the scope '${scope}', which no module declares`;
      const path = ['roles', role.name, 'scopes', index];
      const hint = 'correct the scope, or remove it';
      const violation = { rule: 'undeclared-scope', message, hint, path, at: 'value' } as const;
      return createDiagnostic(violation, source, 'warning');
    }),
  );
}

function warnOfUnusedRoles(
  table: RoleTable,
  source: DocumentSource,
  sources: readonly RoleSource[],
): Diagnostic[] {
  const used = new Set<Role>();
  for (const { names } of sources) for (const name of names ?? []) addRole(name);
  for (const role of used) role.roles.forEach(addRole);
  return table.list().flatMap((role) => {
    if (used.has(role)) return [];
    const message = `no actor can have the role '${role.name}'`;
    const hint = 'name it in the tokens file or for an issuer, or remove it';
    const path = ['roles', role.name];
    const violation = { rule: 'unused-role', message, hint, path, at: 'key' } as const;
    return createDiagnostic(violation, source, 'warning');
  });

  function addRole(name: string): void {
    const role = table.get(name);
    if (role !== undefined) used.add(role);
  }
}

import { dirname } from 'node:path';
import type { Command } from 'commander';
import { RoleTable } from '../../auth/role-table.js';
import type { Manifest } from '../../contract/index.js';
import type { RoleReport } from '../../contract/role-report.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { parseDescriptor } from '../../descriptor/parse-descriptor.js';
import { InvalidFile } from '../../document/diagnostic.js';
import { suggestName } from '../../document/suggest.js';
import { ConfigError } from '../../errors.js';
import { listPermittedParts } from '../../manifest/list-opened.js';
import { listPublicRoutes } from '../../manifest/list-public-routes.js';
import type { LoadedManifest } from '../../manifest/load-manifest.js';
import { type DescriptorContext, readLocalManifest } from '../../modules/prepare-descriptor.js';
import { describeScope } from '../../operations/status/list-roles.js';
import type { DirectoryFile } from '../../watch/directory.js';
import { checkDescriptors } from '../check/check-descriptors.js';
import { describeFile } from '../check/describe-file.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { openDescriptors } from '../open-descriptors.js';
import { formatBlocks } from '../output/escape.js';
import { printResult } from '../output/print-result.js';
import { formatTable } from '../output/table.js';
import { addRoleOptions, readRoleReport } from '../roles/read-roles.js';
import { addJsonOption } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

const HELP = `
With a module it does not call a host or provider. Every permission that is both
granted and declared also opens contributions, and the metadata of modules in
which the caller holds a capability. With --role it shows what a role opens in
all modules, from files or from the host of --url. Exits with 0 for any
difference, with 2 for an invalid file.`;

export function define(command: Command): void {
  command
    .argument('[module]', 'Module name, as configured in its descriptor')
    .option('--role <name>', 'Show what this role opens, instead of a module')
    .addHelpText('after', HELP);
  addUselessOptions(command, {
    'without --role': ['url', 'token', 'ca', 'roles'],
    'with a module': ['role'],
  });
  addRoleOptions(command);
  addJsonOption(command, 'the report');
}

/** Compares the grants of consoles with the permissions of the manifest, or prints a role's. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { role } = command.opts<{ role?: string }>();
  if (role !== undefined) {
    const grants = findRoleGrants(role, await readRoleReport(command, context));
    return printResult(command, context, grants, formatRoleGrants, 2);
  }
  const [module] = command.args;
  if (module === undefined) throw new ConfigError("missing required argument 'module'");
  const { path, descriptors } = await openDescriptors([], command, context);
  const report = await readGrants(module, path, descriptors);
  return printResult(command, context, report, formatGrants, 2);
}

/**
 * Reads the grants of a module's descriptor and its manifest. Does not fetch a manifest from a URL or the
 * provider.
 * @throws ConfigError for a module without a descriptor; InvalidFile for an invalid file.
 */
async function readGrants(module: string, folder: string, context: DescriptorContext) {
  const entry = await findDescriptor(module, folder, context);
  if ('diagnostic' in entry) throw new InvalidFile([entry.diagnostic]);
  const parsed = await parseDescriptor({ ...entry, adapters: context.plugins });
  const manifest = await readLocalManifest({
    // The pin is reported instead of enforced.
    descriptor: { ...parsed.descriptor, manifest_digest: undefined },
    file: entry.file,
    locate: parsed.locate,
    baseDir: dirname(entry.path),
  });
  return createGrantsReport(parsed.descriptor, manifest, describeFile(folder, entry.file));
}

async function findDescriptor(
  module: string,
  folder: string,
  context: DescriptorContext,
): Promise<DirectoryFile> {
  const { descriptors } = await checkDescriptors(folder, context);
  const named = descriptors.filter((checked) => checked.module === module);
  // Of two descriptors with the same name, the enabled one is served.
  const checkedModule = named.find(({ prepared }) => prepared?.descriptor.enabled) ?? named[0];
  if (checkedModule !== undefined) return checkedModule.entry;
  const names = descriptors.flatMap((checked) => checked.module ?? []);
  const hint = suggestName(module, names);
  throw new ConfigError(
    `${folder} has no descriptor for the module '${module}'${hint === null ? '' : `: ${hint}`}`,
  );
}

/** Whether the manifest has the digest that `manifest_digest` pins; `unknown` without a local manifest. */
type Pin = 'absent' | 'fits' | 'differs' | 'unknown';

interface ReportedPermission {
  readonly permission: string;
  readonly granted: boolean;
  /** Whether it is in `capabilities` of the manifest; `null` without a local manifest. */
  readonly declared: boolean | null;
  /** The routes and entities that the permission opens, as `listPermittedParts` returns them. */
  readonly opens: readonly string[];
}

type GrantsReport = ReturnType<typeof createGrantsReport>;

const PINS: Readonly<Record<Pin, string>> = {
  absent: 'none: the grants apply to any manifest',
  fits: 'matches the manifest',
  differs: 'does NOT match the manifest: a host rejects it',
  unknown: 'cannot be compared: the manifest is not available offline',
};

const SOURCES: Readonly<Record<GrantsReport['manifest_from'], string>> = {
  file: '',
  inline: '',
  url: 'comes from a URL and is not fetched',
  provider: 'comes from the provider and is not fetched',
};

/** Prints the digests, then each permission and what it opens. */
function formatGrants(report: GrantsReport): string {
  const { module, file, enabled, manifest_digest, manifest_from, pin, release, ui } = report;
  const subjects = [
    `module    ${module} (${file}${enabled ? '' : ', disabled'})`,
    `manifest  ${manifest_digest ?? SOURCES[manifest_from]}`,
    `pin       ${PINS[pin]}`,
    `release   ${release ?? 'the digest of the manifest'}`,
    ...(ui.length === 0 ? ['none: no console may call the module'] : ui).map(
      (digest) => `ui        ${digest}`,
    ),
    ...(report.public_routes ?? []).map((route) => `public    ${route}`),
  ];
  const rows = report.permissions.map(({ permission, granted, declared, opens }) => [
    permission,
    granted ? 'yes' : 'no',
    declared === false ? 'nothing: the manifest does not declare it' : opens.join(', '),
  ]);
  const table = rows.length === 0 ? [] : formatTable(['permission', 'granted', 'opens'], rows);
  return formatBlocks(subjects, table);
}

/** The output of `modgate grants --json`, with wire names; `null` without a local manifest. */
function createGrantsReport(descriptor: Descriptor, read: LoadedManifest | null, file: string) {
  const { release, ui, grants } = descriptor.console;
  const publicRoutes = listPublicRoutes(descriptor, read?.manifest ?? null);
  const permissions = listPermissions(grants, read?.manifest ?? null);
  const select = (isSelected: (permission: ReportedPermission) => boolean) =>
    permissions.filter(isSelected).map(({ permission }) => permission);
  return {
    module: descriptor.module,
    module_id: read?.manifest.module_id ?? null,
    file,
    enabled: descriptor.enabled,
    manifest_from: descriptor.manifest.kind,
    manifest_digest: read?.digest ?? null,
    pin: comparePin(descriptor.manifest_digest, read),
    release: release ?? read?.digest ?? null,
    ui,
    grants,
    ...(publicRoutes.length > 0 && { public_routes: publicRoutes }),
    permissions,
    not_granted: select(({ granted, declared }) => declared === true && !granted),
    not_declared: select(({ granted, declared }) => declared === false && granted),
  };
}

function comparePin(pinned: string | undefined, read: LoadedManifest | null): Pin {
  if (pinned === undefined) return 'absent';
  if (read === null) return 'unknown';
  return pinned === read.digest ? 'fits' : 'differs';
}

function listPermissions(
  grants: readonly string[],
  manifest: Manifest | null,
): ReportedPermission[] {
  const declared = manifest?.capabilities ?? [];
  return [...new Set([...declared, ...grants])].map((permission) => ({
    permission,
    granted: grants.includes(permission),
    declared: manifest === null ? null : declared.includes(permission),
    opens: manifest === null ? [] : listPermittedParts(permission, manifest),
  }));
}

type RoleGrants = ReturnType<typeof findRoleGrants>;

/**
 * The role with all its scopes, each with the role that lists it.
 * @throws ConfigError for a role that is missing in the report.
 */
function findRoleGrants(name: string, report: RoleReport) {
  const table = new RoleTable(
    Object.fromEntries(
      report.roles.map(({ name, description, scopes, roles }) => [
        name,
        { description: description ?? undefined, scopes: [...scopes], roles: [...roles] },
      ]),
    ),
  );
  const role = table.get(name);
  if (role === undefined) {
    const hint = suggestName(
      name,
      [...table.list()].map((known) => known.name),
    );
    throw new ConfigError(`there is no role '${name}'${hint === null ? '' : `: ${hint}`}`);
  }
  const opened = new Map(report.scopes.map((entry) => [entry.scope, entry]));
  const scopes = [...role.scopes].flatMap(([scope, from]) => {
    const entry = opened.get(scope);
    return entry === undefined ? [] : { ...entry, from };
  });
  const { description, roles } = role;
  const undeclared = scopes.filter(({ declared }) => declared === false);
  const not_declared = undeclared.map(({ scope }) => scope);
  return { role: name, description, roles, scopes, not_declared };
}

function formatRoleGrants({ role, description, roles, scopes }: RoleGrants): string {
  const subjects = [
    `role         ${role}`,
    ...(description === null ? [] : [`description  ${description}`]),
    ...(roles.length === 0 ? [] : [`roles        ${roles.join(', ')}`]),
  ];
  const rows = scopes.map((entry) => [entry.scope, entry.from, describeScope(entry)]);
  const table = rows.length === 0 ? [] : formatTable(['scope', 'from', 'opens'], rows);
  return formatBlocks(subjects, table);
}

import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { Manifest } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { parseDescriptor } from '../../descriptor/parse-descriptor.js';
import { InvalidFile } from '../../document/diagnostic.js';
import { assertValidFile } from '../../document/parse-file.js';
import { suggestName } from '../../document/suggest.js';
import { ConfigError } from '../../errors.js';
import { listPermittedParts } from '../../manifest/list-opened.js';
import { listPublicRoutes } from '../../manifest/list-public-routes.js';
import type { LoadedManifest } from '../../manifest/load-manifest.js';
import { type DescriptorContext, readLocalManifest } from '../../modules/prepare-descriptor.js';
import type { DirectoryFile } from '../../watch/directory.js';
import { checkDescriptors } from '../check/check-descriptors.js';
import { describeFile } from '../check/describe-file.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { openDescriptors } from '../open-descriptors.js';
import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import { addRoleOptions, readRoleReport } from '../roles/read-roles.js';
import { findRoleGrants, formatRoleGrants } from '../roles/role-grants.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';

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
  addRoleOptions(command);
  addJsonOption(command, 'the report');
}

/** Compares the grants of consoles with the permissions of the manifest, or prints a role's. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { role } = command.opts<{ role?: string }>();
  if (role !== undefined) return showRole(role, command, context);
  rejectOptions(command, ['url', 'token', 'ca', 'roles'], 'without --role');
  if (command.args.length === 0) throw new ConfigError("missing required argument 'module'");
  const report = await read(command, context);
  await context.print(
    isJsonRequested(command) ? `${JSON.stringify(report, null, 2)}\n` : formatGrants(report),
  );
  return EXIT.ok;
}

async function showRole(
  name: string,
  command: Command,
  context: CommandContext,
): Promise<ExitCode> {
  if (command.args.length > 0) throw new ConfigError('--role cannot be used with a module');
  const grants = findRoleGrants(name, await readRoleReport(command, context));
  await context.print(
    isJsonRequested(command) ? `${JSON.stringify(grants, null, 2)}\n` : formatRoleGrants(grants),
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

/**
 * Reads the grants of a module's descriptor and its manifest. Does not fetch a manifest from a URL or the
 * provider.
 * @throws ConfigError for a module without a descriptor; InvalidFile for an invalid file.
 */
async function readGrants(
  module: string,
  folder: string,
  context: DescriptorContext,
): Promise<GrantsReport> {
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
  const candidates = descriptors.filter((checked) => checked.module === module);
  // Of two descriptors with the same name, the enabled one is served.
  const checkedModule =
    candidates.find(({ prepared }) => prepared?.descriptor.enabled) ?? candidates[0];
  if (checkedModule !== undefined) return checkedModule.entry;
  const names = descriptors.flatMap((checked) => checked.module ?? []);
  const hint = suggestName(module, names);
  throw new ConfigError(
    `${folder} has no descriptor for the module '${module}'${hint === null ? '' : `: ${hint}`}`,
  );
}

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
  const blocks = [formatSubjects(report), formatPermissions(report)];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.map(toPrintable).join('\n')}\n`)
    .join('\n');
}

function formatSubjects(report: GrantsReport): string[] {
  const { module, file, enabled, manifest_digest, manifest_from, pin, release, ui } = report;
  const disabled = enabled ? '' : ', disabled';
  const rows: [string, string][] = [
    ['module', `${module} (${file}${disabled})`],
    ['manifest', manifest_digest ?? SOURCES[manifest_from]],
    ['pin', PINS[pin]],
    ['release', release ?? 'the digest of the manifest'],
    ...(ui.length === 0 ? ['none: no console may call the module'] : ui).map(
      (digest): [string, string] => ['ui', digest],
    ),
    ...(report.public_routes ?? []).map((route): [string, string] => ['public', route]),
  ];
  return rows.map(([name, text]) => `${name.padEnd(SUBJECT_WIDTH)}${text}`);
}

/** The longest name and a gap. */
const SUBJECT_WIDTH = 'manifest'.length + 2;

function formatPermissions({ permissions }: GrantsReport): string[] {
  if (permissions.length === 0) return [];
  const columns = ['permission', 'granted', 'opens'];
  return formatTable(
    columns,
    permissions.map((entry) => [
      entry.permission,
      entry.granted ? 'yes' : 'no',
      describeOpened(entry),
    ]),
  );
}

function describeOpened({ declared, opens }: ReportedPermission): string {
  if (declared === false) return 'nothing: the manifest does not declare it';
  return opens.join(', ');
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

/** The output of `modgate grants --json`, with wire names. */
interface GrantsReport {
  readonly module: string;
  /** `null` without a local manifest. */
  readonly module_id: string | null;
  /** The file name in diagnostics. */
  readonly file: string;
  readonly enabled: boolean;
  readonly manifest_from: Descriptor['manifest']['kind'];
  readonly manifest_digest: string | null;
  readonly pin: Pin;
  /** The `moduleReleaseDigest` that consoles must send; `null` without a local manifest. */
  readonly release: string | null;
  readonly ui: readonly string[];
  readonly grants: readonly string[];
  /** Absent if every route requires credentials. */
  readonly public_routes?: readonly string[];
  /** Those declared, in the order of the manifest, then those only granted. */
  readonly permissions: readonly ReportedPermission[];
  /** Declared by the manifest but not granted. */
  readonly not_granted: readonly string[];
  /** Granted without effect, because the manifest does not declare them. */
  readonly not_declared: readonly string[];
}

function createGrantsReport(
  descriptor: Descriptor,
  read: LoadedManifest | null,
  file: string,
): GrantsReport {
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

import { relative, resolve, sep } from 'node:path';
import type { Command } from 'commander';
import { listPluginAuthenticators } from '../../config/authenticator-list.js';
import { ConfigError } from '../../errors.js';
import { type BlastRadius, NOT_COMPARABLE } from '../../modules/against/blast-radius.js';
import { PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { readVersion } from '../../version.js';
import { findBlastRadius, formatBlastRadius } from '../against/find-blast-radius.js';
import { checkFiles } from '../check/check-files.js';
import {
  type CheckedFile,
  type CheckReport,
  readConfigDigest,
  readManifestOf,
  summarize,
} from '../check/check-report.js';
import {
  addFormatOptions,
  type Format,
  type FormatOptions,
  readFormat,
} from '../check/format-option.js';
import { formatCheckText } from '../check/format-text.js';
import { createHostClient, type HostClient } from '../client/host-client.js';
import { addCredentialOptions, parseHostUrl, readCredentials } from '../client/host-options.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { openDescriptors } from '../open-descriptors.js';
import { addSettings } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

const SCHEMA =
  'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';
const NOTE_RULE = 'note';

interface CheckOptions extends FormatOptions {
  readonly against?: string;
  readonly allowMissingSecrets?: true;
}

const HELP = `
Does not call providers or URLs, except the host of --against. Files and
variables that descriptors refer to must exist, as in a host. In CI, where
secrets are absent, use --allow-missing-secrets. Exits with 0 without errors,
otherwise with 1.`;

export function define(command: Command): void {
  command.argument(
    '[file|dir]',
    'Descriptor, manifest or folder (default: the folder of --modules)',
  );
  addFormatOptions(command);
  command
    .option('--against <url>', 'Compare with a running host: what would change for clients')
    .option('--allow-missing-secrets', 'Report unresolved secrets as notes instead of errors')
    .addHelpText('after', HELP);
  addCredentialOptions(command);
  addSettings(command, ['modules', 'tokenHeader', 'authenticators', ...PLUGIN_SETTINGS]);
  addUselessOptions(command, {
    'without --against': ['token', 'ca'],
    'with a file or folder': ['modules'],
  });
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const options = command.opts<CheckOptions>();
  const format = readFormat(options);
  const client = readClient(options, format, command, context);
  const report = await check(command, context);
  let against: BlastRadius | null = null;
  try {
    if (client !== null) against = await findBlastRadius(report, client);
  } finally {
    // Printed even if the host is unreachable.
    await context.print(formatReport(report, against, format));
  }
  const isCompared = against?.modules.every(({ detail }) => detail !== NOT_COMPARABLE) ?? true;
  return summarize(report).errors === 0 && isCompared ? EXIT.ok : EXIT.failure;
}

async function check(command: Command, context: CommandContext): Promise<CheckReport> {
  const { allowMissingSecrets = false } = command.opts<CheckOptions>();
  const { config, path, descriptors } = await openDescriptors(
    ['authenticators'],
    command,
    context,
    command.args[0],
  );
  return checkFiles(path, {
    ...descriptors,
    unopenedAuthenticators: listPluginAuthenticators(config.authenticators ?? []),
    allowsMissingSecrets: allowMissingSecrets,
    checksExamples: true,
  });
}

function readClient(
  { against }: CheckOptions,
  format: Format,
  command: Command,
  { environment }: CommandContext,
): HostClient | null {
  if (against === undefined) return null;
  if (format === 'sarif')
    throw new ConfigError('--against cannot be used with --format sarif: use text or json');
  const url = parseHostUrl(against, '--against');
  return createHostClient({ url, ...readCredentials(command, environment) });
}

export function formatReport(
  report: CheckReport,
  against: BlastRadius | null,
  format: Format,
): string {
  if (format === 'json') return formatCheckJson(report, against);
  if (format === 'sarif') return formatCheckSarif(report, readVersion());
  const text = formatCheckText(report);
  return against === null ? text : `${text}\n${formatBlastRadius(against)}`;
}

function formatCheckJson(report: CheckReport, against: BlastRadius | null): string {
  const { diagnostics, notes, ignored } = report;
  const document = {
    summary: summarize(report),
    files: report.files.map(toWireFile),
    findings: diagnostics.map(({ path: _path, ...finding }) => finding),
    notes,
    ignored,
    ...(against !== null && { against }),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function toWireFile(checked: CheckedFile) {
  const { file, kind, module } = checked;
  const manifest = readManifestOf(checked);
  return {
    file,
    kind,
    module,
    enabled: kind === 'descriptor' ? (checked.prepared?.descriptor.enabled ?? null) : null,
    digest: manifest?.digest ?? null,
    config_digest: kind === 'descriptor' ? readConfigDigest(checked) : null,
  };
}

/** SARIF 2.1.0 for code hosts and editors. URIs are relative to the working directory. */
function formatCheckSarif({ diagnostics, notes }: CheckReport, version: string): string {
  const place = { line: null, column: null };
  const reported = [
    ...diagnostics.map(({ severity: level, ...others }) => ({ level, ...others })),
    ...notes.map((note) => ({ ...note, ...place, rule: NOTE_RULE, level: 'note', hint: null })),
  ];
  const rules = [...new Set(reported.map(({ rule }) => rule))].sort();
  const results = reported.map(({ rule, level, message, hint, file, line, column }) => ({
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level,
    message: { text: hint === null ? message : `${message} (${hint})` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toRelativeUri(file) },
          ...(line !== null && { region: { startLine: line, startColumn: column ?? 1 } }),
        },
      },
    ],
  }));
  const described = rules.map((id) => ({
    id,
    shortDescription: { text: id.replaceAll('-', ' ') },
  }));
  const driver = { name: 'modgate', version, rules: described };
  const log = {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function toRelativeUri(file: string): string {
  const path = relative(process.cwd(), resolve(file));
  return path.split(sep).map(encodeURIComponent).join('/');
}

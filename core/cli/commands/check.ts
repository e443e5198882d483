import type { Command } from 'commander';
import { listPluginAuthenticators } from '../../config/authenticator-list.js';
import { ConfigError } from '../../errors.js';
import { PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { readVersion } from '../../version.js';
import type { BlastRadius } from '../against/blast-radius.js';
import { findBlastRadius } from '../against/find-blast-radius.js';
import { formatBlastRadius } from '../against/format-blast-radius.js';
import { checkFiles } from '../check/check-files.js';
import { type CheckReport, summarize } from '../check/check-report.js';
import { formatCheckJson } from '../check/format-json.js';
import { formatCheckText } from '../check/format-text.js';
import { formatCheckSarif } from '../check/sarif.js';
import { createHostClient, type HostClient } from '../client/host-client.js';
import { addCredentialOptions, parseHostUrl, readCredentials } from '../client/host-options.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { openDescriptors } from '../open-descriptors.js';
import { addSettings, choiceOption } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';

const FORMATS = ['text', 'json', 'sarif'] as const;

type Format = (typeof FORMATS)[number];

interface CheckOptions {
  readonly format?: Format;
  readonly json?: true;
  readonly against?: string;
  readonly allowMissingSecrets?: true;
}

const HELP = `
Does not call providers or URLs, except the host of --against. Files and
variables that descriptors refer to must exist, as in a host. In CI, where
secrets are absent, use --allow-missing-secrets. Exits with 0 without errors,
otherwise with 1.`;

export function define(command: Command): void {
  command
    .argument('[file|dir]', 'Descriptor, manifest or folder (default: the folder of --modules)')
    .addOption(
      choiceOption('--format <format>', 'Print the report as text, json or sarif', FORMATS),
    )
    .option('--json', 'Same as --format json')
    .option('--against <url>', 'Compare with a running host: what would change for clients')
    .option('--allow-missing-secrets', 'Report unresolved secrets as notes instead of errors')
    .addHelpText('after', HELP);
  addCredentialOptions(command);
  addSettings(command, ['modules', 'tokenHeader', 'authenticators', ...PLUGIN_SETTINGS]);
}

/** Validates descriptors and manifests like a host. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const options = command.opts<CheckOptions>();
  if (options.against === undefined) rejectOptions(command, ['token', 'ca'], 'without --against');
  if (command.args.length > 0) rejectOptions(command, ['modules'], 'with a file or folder');
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
  return summarize(report).errors === 0 ? EXIT.ok : EXIT.failure;
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

function readFormat({ format, json }: CheckOptions): Format {
  if (json !== true) return format ?? 'text';
  if (format === undefined || format === 'json') return 'json';
  throw new ConfigError(`--json cannot be used with --format ${format}`);
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

function formatReport(report: CheckReport, against: BlastRadius | null, format: Format): string {
  if (format === 'json') return formatCheckJson(report, against);
  if (format === 'sarif') return formatCheckSarif(report, readVersion());
  const text = formatCheckText(report);
  return against === null ? text : `${text}\n${formatBlastRadius(against)}`;
}

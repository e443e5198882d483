import type { Command } from 'commander';
import { requireFolder } from '../../config/require-folder.js';
import { ConfigError } from '../../errors.js';
import { openPlugins, PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { readVersion } from '../../version.js';
import type { BlastRadius } from '../check/blast-radius.js';
import { checkPath } from '../check/check-files.js';
import { type CheckReport, summarize } from '../check/check-report.js';
import { findBlastRadius } from '../check/find-blast-radius.js';
import { formatBlastRadius } from '../check/format-blast-radius.js';
import { formatCheckJson } from '../check/format-json.js';
import { formatCheckText } from '../check/format-text.js';
import { formatCheckSarif } from '../check/sarif.js';
import { createHostClient, type HostClient } from '../client/host-client.js';
import {
  addAuthorityOption,
  addTokenOption,
  parseHostUrl,
  readAuthority,
  readToken,
} from '../client/host-options.js';
import { reportFailure } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { addSettings, choiceOption, readSettings } from '../setting-options.js';

const FORMATS = ['text', 'json', 'sarif'] as const;

type Format = (typeof FORMATS)[number];

interface CheckOptions {
  readonly format?: Format;
  readonly json?: true;
  readonly against?: string;
}

const EXPLANATION = `
Nothing is opened, asked or fetched, but for --against. Files that descriptors
name, and variables that they refer to, must be there, as for the host. Ends
with 0 without errors, 1 with any.`;

export function define(command: Command): void {
  command
    .argument('[file|dir]', 'a descriptor, a manifest, or a folder (default: that of --modules)')
    .addOption(choiceOption('--format <format>', 'text, json or sarif', FORMATS))
    .option('--json', 'the same as --format json')
    .option('--against <url>', 'compare with a running host: what would change for callers')
    .addHelpText('after', EXPLANATION);
  addTokenOption(command);
  addAuthorityOption(command);
  addSettings(command, ['modules', ...PLUGIN_SETTINGS]);
}

/** Judges descriptors and manifests as a host would. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const options = command.opts<CheckOptions>();
  const format = readFormat(options);
  const client = readClient(options, format, command, context);
  const report = await check(command, context);
  return reportFailure(async () => {
    let against: BlastRadius | null = null;
    try {
      if (client !== null) against = await findBlastRadius(report, client);
    } finally {
      // What was found offline is told also when the host is not there.
      await context.print(formatReport(report, against, format));
    }
    return summarize(report).errors === 0 ? EXIT.ok : EXIT.failure;
  });
}

async function check(command: Command, context: CommandContext): Promise<CheckReport> {
  const { config, sources } = await readSettings(['modules', ...PLUGIN_SETTINGS], command, context);
  const [path] = command.args;
  if (path === undefined) await requireFolder(config.modules, sources.modules);
  const plugins = await openPlugins(config, sources.plugins);
  return checkPath(path ?? config.modules, { plugins, environment: context.environment });
}

function readFormat({ format, json }: CheckOptions): Format {
  if (json !== true) return format ?? 'text';
  if (format === undefined || format === 'json') return 'json';
  throw new ConfigError(`--json and --format ${format} exclude each other`);
}

function readClient(
  { against }: CheckOptions,
  format: Format,
  command: Command,
  { environment }: CommandContext,
): HostClient | null {
  if (against === undefined) return null;
  if (format === 'sarif')
    throw new ConfigError('--against has no place in sarif: use text or json');
  const url = parseHostUrl(against, '--against');
  const ca = readAuthority(command, environment);
  return createHostClient({ url, token: readToken(command, environment), ca });
}

function formatReport(report: CheckReport, against: BlastRadius | null, format: Format): string {
  if (format === 'json') return formatCheckJson(report, against);
  if (format === 'sarif') return formatCheckSarif(report, readVersion());
  const text = formatCheckText(report);
  return against === null ? text : `${text}\n${formatBlastRadius(against)}`;
}

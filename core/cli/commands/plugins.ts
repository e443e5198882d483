import type { Command } from 'commander';
import { array, type Infer, nullable, optional, string, type } from 'superstruct';
import { ConfigError } from '../../errors.js';
import { openPlugins, PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { addCredentialOptions, openHostClient } from '../client/host-options.js';
import { parseHostResponse, requestText } from '../client/host-response.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import { digestPlugins } from '../plugins/digest-plugins.js';
import { addJsonOption, addSettings, isJsonRequested, readSettings } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';

const HELP = `
Without --url it reads the folders and runs no code of a plugin: the states are
known and refused. A running host also shows which plugins were loaded and
which failed. Exits with 0 for every state, unless --check is given.

modgate plugins digest <dir...>  prints the digests of the files of plugins for
--plugin-digests, or with --own for their plugin.json.`;

const pluginEntry = type({
  name: string(),
  version: nullable(string()),
  origin: string(),
  folder: string(),
  kinds: array(string()),
  authenticators: array(string()),
  surfaces: array(string()),
  // Older hosts do not have it.
  signers: optional(array(string())),
  state: string(),
  integrity: string(),
  reason: nullable(string()),
  hint: nullable(string()),
});

/** The fields of `GET /plugins` that `modgate plugins` uses. */
const pluginList = type({ plugins: array(pluginEntry) });

const PLUGINS_PATH = '/plugins';

export function define(command: Command): void {
  command
    .argument('[action]', 'digest: print the digests of the files of plugins')
    .argument('[dirs...]', 'With digest: the folders of the plugins')
    .option('--url <url>', 'Show the plugins of a running host')
    .option('--check', 'Exit with 1 if a plugin is refused or faulted')
    .option('--own', "With digest: print the member 'digests' of the plugin's own plugin.json")
    .addHelpText('after', HELP);
  addCredentialOptions(command);
  addJsonOption(command, 'the list');
  addSettings(command, PLUGIN_SETTINGS);
}

export function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [action, ...folders] = command.args;
  if (action === undefined) return list(command, context);
  if (action === 'digest') return digest(folders, command, context);
  throw new ConfigError("the action must be 'digest', or absent to list the plugins");
}

async function digest(
  folders: readonly string[],
  command: Command,
  context: CommandContext,
): Promise<ExitCode> {
  const useless = ['url', 'check', 'token', 'ca', 'config', ...PLUGIN_SETTINGS];
  rejectOptions(command, useless, 'with digest');
  if (folders.length === 0) throw new ConfigError("'digest' requires the folder of a plugin");
  const { own: isOwn = false } = command.opts<{ own?: boolean }>();
  if (isOwn && folders.length > 1) throw new ConfigError('--own accepts one folder');
  const printed = await digestPlugins(folders, isOwn);
  await context.print(`${JSON.stringify(printed, null, 2)}\n`);
  return EXIT.ok;
}

async function list(command: Command, context: CommandContext): Promise<ExitCode> {
  rejectOptions(command, ['own'], 'without digest');
  const plugins = await readList(command, context);
  const text = isJsonRequested(command)
    ? `${JSON.stringify({ plugins })}\n`
    : formatPlugins(plugins);
  await context.print(text);
  const isBad = plugins.some(({ state }) => state === 'refused' || state === 'faulted');
  const { check = false } = command.opts<{ check?: boolean }>();
  return check && isBad ? EXIT.failure : EXIT.ok;
}

async function readList(
  command: Command,
  context: CommandContext,
): Promise<readonly PluginListEntry[]> {
  const { url } = command.opts<{ url?: string }>();
  if (url === undefined) {
    rejectOptions(command, ['token', 'ca'], 'without --url');
    const { config, sources } = await readSettings(PLUGIN_SETTINGS, command, context);
    const plugins = await openPlugins(config, sources.plugins);
    await plugins.verify();
    return plugins.list();
  }
  rejectOptions(command, ['config', ...PLUGIN_SETTINGS], 'with --url');
  const client = openHostClient(command, context);
  return parseHostResponse(client, await requestText(client, PLUGINS_PATH), pluginList).plugins;
}

const COLUMNS = ['NAME', 'VERSION', 'STATE', 'INTEGRITY', 'KINDS', 'AUTHENTICATORS', 'SURFACES'];

/** Formats one row per plugin, then its folder unless it is shipped, and its problem. */
function formatPlugins(plugins: readonly PluginListEntry[]): string {
  // The column is omitted without signers, because few plugins have any.
  const hasSigners = plugins.some(({ signers = [] }) => signers.length > 0);
  const columns = hasSigners ? [...COLUMNS, 'SIGNERS'] : COLUMNS;
  const [titles = '', ...rows] = formatTable(columns, plugins.map(formatRow));
  const lines = [titles];
  for (const [index, plugin] of plugins.entries()) {
    lines.push(rows[index] ?? '', ...formatDetails(plugin));
  }
  return `${lines.join('\n')}\n`;
}

function formatRow(plugin: PluginListEntry): string[] {
  const { name, version, state, integrity, kinds, authenticators, surfaces } = plugin;
  const { signers = [] } = plugin;
  const cells = [
    name,
    version ?? '-',
    state,
    integrity,
    formatNames(kinds),
    formatNames(authenticators),
    formatNames(surfaces),
    formatNames(signers),
  ];
  return cells.map(toPrintable);
}

function formatNames(names: readonly string[]): string {
  return names.length === 0 ? '-' : names.join(' ');
}

function formatDetails({ origin, folder, reason, hint }: PluginListEntry): string[] {
  return [
    ...(origin === 'shipped' ? [] : [`  ${toPrintable(folder)}`]),
    ...(reason === null ? [] : [`  ${toPrintable(reason)}`]),
    ...(hint === null ? [] : [`  hint: ${toPrintable(hint)}`]),
  ];
}

type Entry = Infer<typeof pluginEntry>;

/** An entry from a host or from the folders of plugins. */
interface PluginListEntry extends Omit<Entry, 'kinds' | 'authenticators' | 'surfaces' | 'signers'> {
  readonly kinds: readonly string[];
  readonly authenticators: readonly string[];
  readonly surfaces: readonly string[];
  readonly signers?: readonly string[] | undefined;
}

import type { Command } from 'commander';
import { requireFolder } from '../../config/require-folder.js';
import { pluginList } from '../../contract/plugin-status.js';
import { ConfigError } from '../../errors.js';
import type { Listing } from '../../operations/listing.js';
import { PLUGIN_LIST } from '../../operations/status/list-plugins.js';
import { DigestError, digestFiles, type FileDigests } from '../../plugin-loader/digests.js';
import { openPlugins, PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { removeOwnDigests, writeOwnDigests } from '../../plugin-loader/own-digests.js';
import { readPluginManifest } from '../../plugin-loader/plugin-manifest.js';
import { addCredentialOptions, openHostClient } from '../client/host-options.js';
import { requestJson } from '../client/host-response.js';
import { type CommandContext, type CommandGroup, EXIT, type ExitCode } from '../command-module.js';
import { formatListing } from '../output/listing.js';
import { printResult } from '../output/print-result.js';
import { addJsonOption, addSettings, readSettings } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

const HELP = `
Without --url it reads the folders and runs no code of a plugin: the states are
known and refused. A running host also shows which plugins were loaded and
which failed. Exits with 0 for every state, unless --check is given.`;

export const actions: CommandGroup['actions'] = {
  list: {
    summary: 'List plugins and their states',
    define: (command) => {
      command
        .option('--url <url>', 'Show the plugins of a running host')
        .option('--check', 'Exit with 1 if a plugin is refused or faulted')
        .addHelpText('after', HELP);
      addCredentialOptions(command);
      addJsonOption(command, 'the list');
      addSettings(command, PLUGIN_SETTINGS);
      addUselessOptions(command, {
        'without --url': ['token', 'ca'],
        'with --url': ['config', ...PLUGIN_SETTINGS],
      });
    },
    run: list,
  },
  digest: {
    summary: 'Print the digests of the files of plugins, for --plugin-digests',
    define: (command) =>
      command
        .argument('<dirs...>', 'Folders of the plugins')
        .option('--own', 'Write the digests of the files that npm packs into plugin.json')
        .option('--remove', 'With --own: remove them from plugin.json')
        .option('--json', 'Changes nothing: the digests are JSON'),
    run: digest,
  },
};

async function digest(command: Command, context: CommandContext): Promise<ExitCode> {
  const { args: folders } = command;
  const { own: isOwn, remove: isRemoved } = command.opts<{ own?: true; remove?: true }>();
  if (isRemoved && !isOwn) throw new ConfigError('--remove requires --own');
  if (isOwn && folders.length > 1) throw new ConfigError('--own accepts one folder');
  const digests: Record<string, FileDigests> = {};
  for (const folder of folders) {
    await requireFolder(folder, 'the folder of a plugin');
    if (isRemoved) await removeOwnDigests(folder);
    else if (isOwn) await writeOwnDigests(folder);
    else digests[await readName(folder)] = await digestFolder(folder);
  }
  if (!isOwn) await context.print(`${JSON.stringify(digests, null, 2)}\n`);
  return EXIT.ok;
}

async function digestFolder(folder: string): Promise<FileDigests> {
  try {
    return await digestFiles(folder);
  } catch (error) {
    if (!(error instanceof DigestError)) throw error;
    throw new ConfigError(`${folder} cannot be digested: ${error.message}`, { cause: error });
  }
}

/** Ignores other errors: a `plugin.json` may not have its digests yet. */
async function readName(folder: string): Promise<string> {
  const plugin = await readPluginManifest(folder, 'folder');
  if ('error' in plugin && plugin.version === null) throw new ConfigError(plugin.error.message);
  return plugin.name;
}

async function list(command: Command, context: CommandContext): Promise<ExitCode> {
  const { url, check } = command.opts<{ url?: string; check?: true }>();
  const { plugins } =
    url === undefined
      ? await readFolders(command, context)
      : await requestJson(openHostClient(command, context), '/plugins', pluginList);
  await printResult(command, context, { plugins }, (page) =>
    formatListing(PLUGIN_LIST.listing as Listing, page),
  );
  const isBad = plugins.some(({ state }) => state === 'refused' || state === 'faulted');
  return check && isBad ? EXIT.failure : EXIT.ok;
}

async function readFolders(command: Command, context: CommandContext) {
  const { config, sources } = await readSettings(PLUGIN_SETTINGS, command, context);
  const plugins = await openPlugins(config, sources.plugins);
  await plugins.verify();
  return { plugins: plugins.list() };
}

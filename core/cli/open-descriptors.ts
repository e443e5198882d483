import type { Command } from 'commander';
import { followsReleases } from '../config/modules-folder.js';
import { requireFolder } from '../config/require-folder.js';
import type { SettingName } from '../config/settings.js';
import { ConfigError } from '../errors.js';
import { HostPrefixes } from '../http/surfaces/host-prefixes.js';
import { openPlugins, PLUGIN_SETTINGS } from '../plugin-loader/open-plugins.js';
import type { CommandContext } from './command-module.js';
import { readSettings } from './setting-options.js';

const DESCRIPTOR_SETTINGS = ['modules', 'tokenHeader', ...PLUGIN_SETTINGS] as const;

/**
 * Reads the settings of a command that reads descriptors, and opens the plugins.
 * @param others the additional settings of the command
 * @param path a file or folder to read instead of the folder of `--modules`
 * @returns settings and `descriptors`, which validates descriptors like a host with the same
 * settings
 * @throws ConfigError for an invalid setting, and for a folder that cannot be read.
 */
export async function openDescriptors<Name extends SettingName = never>(
  others: readonly Name[],
  command: Command,
  context: CommandContext,
  path?: string,
) {
  const names = [...DESCRIPTOR_SETTINGS, ...others];
  const { config, sources } = await readSettings(names, command, context);
  if (path === undefined && followsReleases(config)) {
    throw new ConfigError(
      `${sources.modules} is store: here: name a folder, see modgate releases pull`,
    );
  }
  if (path === undefined) await requireFolder(config.modules, sources.modules);
  const plugins = await openPlugins(config, sources.plugins);
  const { environment } = context;
  const credentialHeaders = config.tokenHeader === null ? [] : [config.tokenHeader];
  return {
    config,
    path: path ?? config.modules,
    descriptors: {
      plugins,
      environment,
      credentialHeaders,
      reservedPrefixes: new HostPrefixes(plugins),
    },
  };
}

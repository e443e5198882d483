import type { Command } from 'commander';
import type { ReadConfig } from '../config/read-config.js';
import { requireFolder } from '../config/require-folder.js';
import type { SettingName } from '../config/settings.js';
import type { DescriptorContext } from '../modules/prepare-descriptor.js';
import { openPlugins, PLUGIN_SETTINGS } from '../plugin-loader/open-plugins.js';
import type { CommandContext } from './command-module.js';
import { readSettings } from './setting-options.js';

const DESCRIPTOR_SETTINGS = ['modules', 'tokenHeader', ...PLUGIN_SETTINGS] as const;

type DescriptorSetting = (typeof DESCRIPTOR_SETTINGS)[number];

interface OpenedDescriptors<Name extends SettingName> {
  readonly config: ReadConfig<Name | DescriptorSetting>['config'];
  /** The folder of descriptors, or the file to read instead. */
  readonly path: string;
  /** Validates descriptors as a host with the same settings does. */
  readonly descriptors: DescriptorContext & { readonly credentialHeaders: readonly string[] };
}

/**
 * Reads the settings for a command that reads descriptors, and opens the plugins.
 * @param others the settings that the command reads besides
 * @param path a file or folder to read instead of the folder of `--modules`
 * @throws ConfigError for an invalid setting, and for a folder that cannot be read.
 */
export async function openDescriptors<Name extends SettingName = never>(
  others: readonly Name[],
  command: Command,
  context: CommandContext,
  path?: string,
): Promise<OpenedDescriptors<Name>> {
  const names = [...DESCRIPTOR_SETTINGS, ...others];
  const { config, sources } = await readSettings(names, command, context);
  if (path === undefined) await requireFolder(config.modules, sources.modules);
  const plugins = await openPlugins(config, sources.plugins);
  const { environment } = context;
  const credentialHeaders = config.tokenHeader === null ? [] : [config.tokenHeader];
  return {
    config,
    path: path ?? config.modules,
    descriptors: { plugins, environment, credentialHeaders },
  };
}

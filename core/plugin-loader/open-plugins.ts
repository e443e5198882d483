import type { PluginSource } from '../config/plugin-list.js';
import { requireFolder } from '../config/require-folder.js';
import type { HostConfig } from '../config/settings.js';
import type { Log } from '../contract/index.js';
import { readKnownFiles, reportFiles } from '../document/known-files.js';
import { assertValidFile } from '../document/parse-file.js';
import { readFileText } from '../document/read-file.js';
import { type Attempt, attemptOrThrow } from '../lib/attempt.js';
import { SHIPPED_PLUGINS } from './find-plugins.js';
import { parsePluginDigests } from './integrity.js';
import { type PluginRegistry, readPlugins } from './plugin-registry.js';

export const PLUGIN_SETTINGS = ['plugins', 'pluginIntegrity', 'pluginDigests'] as const;

type PluginConfig = Pick<HostConfig, (typeof PLUGIN_SETTINGS)[number]>;

/**
 * Reads the shipped plugins, then the configured ones; the first plugin of a kind keeps it.
 * @param attempt receives each folder or file of digests that cannot be read; without it the first
 * one throws
 * @throws ConfigError
 */
export async function openPlugins(
  { plugins, pluginIntegrity: integrity, pluginDigests }: PluginConfig,
  source: string,
  log?: Log,
  attempt: Attempt = attemptOrThrow,
): Promise<PluginRegistry> {
  const configured: PluginSource[] = [];
  for (const plugin of plugins ?? []) {
    const usable = await attempt(async () => {
      if (plugin.kind === 'folder') await requireFolder(plugin.path, source);
      return plugin;
    });
    if (usable !== null) configured.push(usable);
  }
  const digests =
    pluginDigests === null ? {} : ((await attempt(() => readDigests(pluginDigests))) ?? {});
  const shipped = { kind: 'folder', path: SHIPPED_PLUGINS } as const;
  const options = { integrity, digests, ...(log && { log }) };
  const registry = await readPlugins([shipped, ...configured], options);
  for (const { state, name, stage, reason, hint } of registry.list()) {
    if (state === 'refused') log?.warn({ plugin: name, stage, reason, hint }, 'plugin rejected');
  }
  return registry;
}

async function readDigests(file: string) {
  try {
    return await readKnownFiles(async () => {
      const text = await readFileText(file);
      const digests = parsePluginDigests(file, text);
      reportFiles(new Map([[file, Buffer.from(text)]]));
      return digests;
    });
  } catch (error) {
    throw assertValidFile(error);
  }
}

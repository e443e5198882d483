import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProviderAdapter } from '../contract/index.js';
import { suggestName } from '../lib/nearest-name.js';
import type { AdapterSource } from './adapter-source.js';
import { PluginError } from './plugin-error.js';
import { importPlugin } from './plugin-import.js';
import {
  PLUGIN_FILE,
  type PluginManifest,
  type RefusedPlugin,
  readPluginManifest,
} from './plugin-manifest.js';

/**
 * - `known`: judged by its `plugin.json`, none of its code has run
 * - `loaded`: imported
 * - `refused`: cannot be used; `reason` and `hint` say why
 */
export type PluginState = 'known' | 'loaded' | 'refused';

/** A plugin as ops see it. */
export interface PluginStatus {
  readonly name: string;
  readonly version: string | null;
  readonly folder: string;
  readonly kinds: readonly string[];
  readonly state: PluginState;
  readonly reason: string | null;
  readonly hint: string | null;
}

export interface PluginRegistry extends AdapterSource {
  /** In the order of the folders, by name within each. */
  list(): readonly PluginStatus[];
}

type ReadPlugin = PluginManifest | RefusedPlugin;

/**
 * Reads `<folder>/<plugin>/plugin.json` of all folders, in their order, and runs no code. Of two plugins
 * with one name or kind the first keeps it and the other is refused: the shipped ones come first, so
 * that no plugin takes `http` over by being dropped into a folder.
 * @throws the error of `readdir` for a folder that cannot be read.
 */
export async function readPlugins(folders: readonly string[]): Promise<PluginRegistry> {
  const paths = (await Promise.all(folders.map(listPluginFolders))).flat();
  const plugins = refuseClashes(await Promise.all(paths.map(readPluginManifest)));
  return createRegistry(plugins);
}

async function listPluginFolders(folder: string): Promise<string[]> {
  const paths = (await readdir(folder)).toSorted().map((name) => join(folder, name));
  const isPlugin = await Promise.all(paths.map((path) => exists(join(path, PLUGIN_FILE))));
  return paths.filter((_path, index) => isPlugin[index]);
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Anything else, such as a lack of permission, is told when the file is read.
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
}

function refuseClashes(plugins: readonly ReadPlugin[]): ReadPlugin[] {
  const byName = new Map<string, PluginManifest>();
  const byKind = new Map<string, PluginManifest>();
  return plugins.map((plugin) => {
    if (isRefused(plugin)) return plugin;
    const error = findClash(plugin, byName, byKind);
    if (error !== null) return { ...plugin, error };
    byName.set(plugin.name, plugin);
    for (const kind of plugin.kinds) byKind.set(kind, plugin);
    return plugin;
  });
}

function findClash(
  plugin: PluginManifest,
  byName: ReadonlyMap<string, PluginManifest>,
  byKind: ReadonlyMap<string, PluginManifest>,
): PluginError | null {
  const namesake = byName.get(plugin.name);
  if (namesake !== undefined) {
    const trouble = `in ${plugin.folder} has the name of the one in ${namesake.folder}`;
    return new PluginError(plugin.name, 'clash', trouble, 'remove one of them');
  }
  const taken = plugin.kinds.find((kind) => byKind.has(kind));
  if (taken === undefined) return null;
  const trouble = `has the kind '${taken}' of plugin '${byKind.get(taken)?.name}', which keeps it`;
  return new PluginError(plugin.name, 'clash', trouble, 'remove one of them');
}

function createRegistry(plugins: readonly ReadPlugin[]): PluginRegistry {
  const byKind = indexByKind(plugins);
  const imports = new Map<ReadPlugin, Promise<ReadonlyMap<string, ProviderAdapter>>>();
  const loaded = new Set<ReadPlugin>();
  const failures = new Map<ReadPlugin, PluginError>();

  const load = async (plugin: PluginManifest) => {
    try {
      const adapters = await importPlugin(plugin);
      loaded.add(plugin);
      return adapters;
    } catch (error) {
      if (error instanceof PluginError) failures.set(plugin, error);
      throw error;
    }
  };

  return {
    kinds: () => [...byKind.keys()],

    async adapter(kind) {
      const plugin = byKind.get(kind);
      if (plugin === undefined) throw createUnknownKind(kind, [...byKind.keys()]);
      if (isRefused(plugin)) throw plugin.error;
      const importing = imports.get(plugin) ?? load(plugin);
      imports.set(plugin, importing);
      const adapter = (await importing).get(kind);
      if (adapter === undefined) throw createUnknownKind(kind, plugin.kinds);
      return adapter;
    },

    list: () =>
      plugins.map((plugin) => {
        const { name, version, folder, kinds } = plugin;
        const error = isRefused(plugin) ? plugin.error : (failures.get(plugin) ?? null);
        const state = error !== null ? 'refused' : loaded.has(plugin) ? 'loaded' : 'known';
        const reason = error?.reason ?? null;
        return { name, version, folder, kinds, state, reason, hint: error?.hint ?? null };
      }),
  };
}

/** A kind belongs to the first plugin that can be used, and if there is none to the first refused one. */
function indexByKind(plugins: readonly ReadPlugin[]): ReadonlyMap<string, ReadPlugin> {
  const byKind = new Map<string, ReadPlugin>();
  const refused = plugins.filter(isRefused);
  const usable = plugins.filter((plugin) => !isRefused(plugin));
  for (const plugin of [...usable, ...refused]) {
    for (const kind of plugin.kinds) if (!byKind.has(kind)) byKind.set(kind, plugin);
  }
  return byKind;
}

function isRefused(plugin: ReadPlugin): plugin is RefusedPlugin {
  return 'error' in plugin;
}

function createUnknownKind(kind: string, kinds: readonly string[]): Error {
  const hint = suggestName(kind, kinds);
  return new Error(`no plugin has that kind of provider${hint === null ? '' : ` (${hint})`}`);
}

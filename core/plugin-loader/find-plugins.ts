import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PluginSource } from '../config/plugin-list.js';
import { compareNames } from '../lib/compare-texts.js';
import { PluginError } from './plugin-error.js';
import {
  NO_NAMES,
  PLUGIN_FILE,
  type PluginOrigin,
  type RejectedPlugin,
} from './plugin-manifest.js';

/** A plugin, or a package that is not installed. */
export type FoundPlugin =
  | { readonly folder: string; readonly origin: PluginOrigin }
  | RejectedPlugin;

/** The maximum number of plugins of a folder, by name. The code of each stays in memory. */
const MAX_PLUGINS = 1000;

export const SHIPPED_PLUGINS = fileURLToPath(new URL('../../plugins', import.meta.url));

/**
 * Finds plugins in the order of the sources, by name within a folder.
 * @throws the error of `readdir` for a folder that cannot be read.
 */
export async function findPlugins(sources: readonly PluginSource[]): Promise<FoundPlugin[]> {
  const plugins = await Promise.all(
    sources.map((source) =>
      source.kind === 'folder' ? listFolder(source.path) : findPackage(source),
    ),
  );
  const folders = new Set<string>();
  // A folder that is configured twice counts once.
  return plugins.flat().filter(({ folder }) => folders.size < folders.add(folder).size);
}

/**
 * The folders whose events may report a new or changed plugin. Plugins lie one level below a folder, and a
 * package may first have to be installed.
 * @throws the error of `readdir` for a folder that cannot be read.
 */
export async function listWatchedFolders(sources: readonly PluginSource[]): Promise<string[]> {
  const folders = await Promise.all(
    sources.map(async (source) => {
      if (source.kind === 'package') return listPackageFolders(source);
      const entries = await readdir(source.path, { withFileTypes: true });
      const plugins = entries
        .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
        .toSorted(compareNames)
        .slice(0, MAX_PLUGINS);
      return [source.path, ...plugins.map(({ name }) => join(source.path, name))];
    }),
  );
  return [...new Set(folders.flat())];
}

function listPackageFolders({ name, directories }: PackageSource): string[] {
  return directories.flatMap((directory) => {
    const packages = join(resolve(directory), 'node_modules');
    return [resolve(directory), packages, dirname(join(packages, name)), join(packages, name)];
  });
}

async function listFolder(folder: string): Promise<FoundPlugin[]> {
  const origin = resolve(folder) === SHIPPED_PLUGINS ? 'shipped' : 'folder';
  // The folder of a single plugin, such as the one under development.
  if (await exists(join(folder, PLUGIN_FILE))) return [{ folder, origin }];
  const paths = (await readdir(folder)).toSorted().map((name) => join(folder, name));
  const isPlugin = await Promise.all(paths.map((path) => exists(join(path, PLUGIN_FILE))));
  const plugins = paths.filter((_path, index) => isPlugin[index]);
  const foundPlugins: FoundPlugin[] = plugins
    .slice(0, MAX_PLUGINS)
    .map((path) => ({ folder: path, origin }));
  const first = plugins[MAX_PLUGINS];
  return first === undefined ? foundPlugins : [...foundPlugins, createSurplus(first, origin)];
}

/** Represents all plugins of a folder beyond the limit. */
function createSurplus(folder: string, origin: PluginOrigin): RejectedPlugin {
  const name = basename(folder);
  const problem = `and those after it are beyond the limit of ${MAX_PLUGINS} plugins in a folder`;
  const error = new PluginError(name, 'find', problem, 'remove plugins that are not used');
  return { origin, folder, name, version: null, ...NO_NAMES, error };
}

type PackageSource = Extract<PluginSource, { kind: 'package' }>;

async function findPackage({ name, directories }: PackageSource): Promise<FoundPlugin[]> {
  for (const directory of directories) {
    for (const parent of listParents(resolve(directory))) {
      const folder = join(parent, 'node_modules', name);
      // The real path, from which Node imports a linked package.
      if (await exists(folder)) return [{ folder: await realpath(folder), origin: 'package' }];
    }
  }
  return [createMissingPackage(name, directories)];
}

function createMissingPackage(name: string, directories: readonly string[]): RejectedPlugin {
  const searched = [...new Set(directories.map((path) => resolve(path)))];
  const problem = `is not installed under ${searched.join(' or ')}`;
  const error = new PluginError(name, 'find', problem, `npm install ${name}`);
  const folder = join(resolve(directories[0] ?? '.'), 'node_modules', name);
  return { origin: 'package', folder, name, version: null, ...NO_NAMES, error };
}

function* listParents(directory: string): Generator<string> {
  yield directory;
  const parent = dirname(directory);
  if (parent !== directory) yield* listParents(parent);
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Other errors, such as a missing permission, are reported when the file is read.
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
}

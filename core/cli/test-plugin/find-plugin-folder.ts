import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../../errors.js';
import { PLUGIN_FILE } from '../../plugin-loader/plugin-manifest.js';

/**
 * Finds the folder of a plugin: a path, or a package that resolves from the working directory.
 * @throws ConfigError for a folder or package without a plugin.json.
 */
export async function findPluginFolder(plugin: string): Promise<string> {
  const folder = resolve(plugin);
  if (await isFile(join(folder, PLUGIN_FILE))) return folder;
  const installed = findPackage(plugin);
  if (installed !== null && (await isFile(join(installed, PLUGIN_FILE)))) return installed;
  throw new ConfigError(
    `${plugin} is neither a folder nor an installed package with a ${PLUGIN_FILE}`,
  );
}

/** Resolves like Node.js, but ignores `exports`: a plugin need not export its plugin.json. */
function findPackage(name: string): string | null {
  if (!/^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(name)) return null;
  const require = createRequire(pathToFileURL(join(process.cwd(), PLUGIN_FILE)));
  for (const modules of require.resolve.paths(name) ?? []) {
    try {
      return dirname(require.resolve(join(modules, name, PLUGIN_FILE)));
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

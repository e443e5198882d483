import { requireFolder } from '../../config/require-folder.js';
import { ConfigError } from '../../errors.js';
import { DigestError, digestFiles, type FileDigests } from '../../plugin-loader/digests.js';
import { PLUGIN_FILE, readPluginManifest } from '../../plugin-loader/plugin-manifest.js';

/**
 * Computes the digests of the files of plugins, by plugin name. With `isOwn` returns the member of a
 * `plugin.json`, which cannot contain its own digest.
 * @throws ConfigError for a missing folder or one without a readable plugin.
 */
export async function digestPlugins(
  folders: readonly string[],
  isOwn: boolean,
): Promise<Readonly<Record<string, unknown>>> {
  const digests: Record<string, FileDigests> = {};
  for (const folder of folders) {
    await requireFolder(folder, 'the folder of a plugin');
    const files = await digest(folder);
    if (isOwn) return { digests: omitOwnFile(files) };
    digests[await readName(folder)] = files;
  }
  return digests;
}

async function digest(folder: string): Promise<FileDigests> {
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

function omitOwnFile(files: FileDigests): FileDigests {
  return Object.fromEntries(Object.entries(files).filter(([path]) => path !== PLUGIN_FILE));
}

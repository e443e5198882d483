import { requireFolder } from '../../config/require-folder.js';
import { ConfigError } from '../../errors.js';
import { DigestError, digestFiles, type FileDigests } from '../../plugin-loader/digests.js';
import { PLUGIN_FILE, readPluginManifest } from '../../plugin-loader/plugin-manifest.js';

/**
 * The digests of the files of plugins, by the names of the plugins; with `isOwn` the member of one
 * `plugin.json`, which cannot hold a digest of its own.
 * @throws ConfigError for a folder that is none, or holds no plugin that can be read.
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

/** What is wrong beside the name does not matter: a `plugin.json` may be about to get its digests. */
async function readName(folder: string): Promise<string> {
  const plugin = await readPluginManifest(folder, 'folder');
  if ('error' in plugin && plugin.version === null) throw new ConfigError(plugin.error.message);
  return plugin.name;
}

function omitOwnFile(files: FileDigests): FileDigests {
  return Object.fromEntries(Object.entries(files).filter(([path]) => path !== PLUGIN_FILE));
}

import { record } from 'superstruct';
import { parseByStruct } from '../document/parse-file.js';
import { DigestError, digestFiles, type FileDigests, fileDigests } from './digests.js';
import { PLUGIN_FILE, type PluginManifest, pluginName } from './plugin-manifest.js';

const DIGESTS_FILE = record(pluginName, fileDigests());

/**
 * Parses `{<plugin>: {<path>: sha256:…}}`, JSON or YAML, as `modgate plugins digest` prints it.
 * @throws InvalidFile with the place of each fault.
 */
export function parsePluginDigests(file: string, text: string): PluginDigests {
  return parseByStruct(file, text, DIGESTS_FILE).value;
}

/** Digests that ops keep apart from the plugins, by a plugin's name; its `plugin.json` is among the files. */
export type PluginDigests = Readonly<Record<string, FileDigests>>;

/** Files named in one message: who changed more is helped by the first ones. */
const MAX_NAMED = 3;

/**
 * Compares the files of a plugin with the digests of ops, else with its own. Without any it fails: nobody
 * has said what its files are.
 * @returns why it fails, `null` when it does not.
 */
export async function verifyIntegrity(
  plugin: PluginManifest,
  pinned: PluginDigests,
): Promise<string | null> {
  const own = plugin.digests === null ? null : { ...plugin.digests };
  const expected = Object.hasOwn(pinned, plugin.name) ? pinned[plugin.name] : own;
  if (expected == null) return 'has no digests';
  try {
    const found = { ...(await digestFiles(plugin.folder)) };
    // It cannot hold a digest of its own.
    if (expected === own) delete found[PLUGIN_FILE];
    return compare(found, expected);
  } catch (error) {
    if (!(error instanceof DigestError)) throw error;
    return `cannot be judged by its digests: ${error.message}`;
  }
}

function compare(found: FileDigests, expected: FileDigests): string | null {
  const paths = [...new Set([...Object.keys(found), ...Object.keys(expected)])].sort();
  const troubles = paths.flatMap((path) => {
    if (!Object.hasOwn(expected, path)) return [`'${path}' has none`];
    if (!Object.hasOwn(found, path)) return [`'${path}' is missing`];
    return found[path] === expected[path] ? [] : [`'${path}' differs`];
  });
  if (troubles.length === 0) return null;
  const more = troubles.length > MAX_NAMED ? ` and ${troubles.length - MAX_NAMED} more` : '';
  return `does not have the files of its digests: ${troubles.slice(0, MAX_NAMED).join(', ')}${more}`;
}

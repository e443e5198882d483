import { record } from 'superstruct';
import { parseByStruct } from '../document/parse-file.js';
import { DigestError, digestFiles, type FileDigests, fileDigests } from './digests.js';
import { PLUGIN_FILE, type PluginManifest, pluginName } from './plugin-manifest.js';

const DIGESTS_FILE = record(pluginName, fileDigests());

/**
 * Parses `{<plugin>: {<path>: sha256:…}}`, JSON or YAML, as `modgate plugins digest` prints it.
 * @throws InvalidFile with the position of each error.
 */
export function parsePluginDigests(file: string, text: string): PluginDigests {
  return parseByStruct(file, text, DIGESTS_FILE).value;
}

/**
 * Digests that operators store separately from the plugins, by plugin name; they include its
 * `plugin.json`.
 */
export type PluginDigests = Readonly<Record<string, FileDigests>>;

/** The maximum number of files in one message. */
const MAX_NAMED = 3;

interface IntegrityProblem {
  /** `unverified`: there are no digests to compare with. */
  readonly state: 'unverified' | 'failed';
  /** Completes a sentence that starts with the plugin. */
  readonly reason: string;
}

/**
 * Compares the files of a plugin with the digests of operators, otherwise with its own.
 * @returns `null` when they are equal.
 */
export async function verifyIntegrity(
  plugin: PluginManifest,
  pinned: PluginDigests,
): Promise<IntegrityProblem | null> {
  const manifestDigests = plugin.digests === null ? null : { ...plugin.digests };
  const expected = Object.hasOwn(pinned, plugin.name) ? pinned[plugin.name] : manifestDigests;
  if (expected == null) return { state: 'unverified', reason: 'has no digests' };
  try {
    const actualDigests = { ...(await digestFiles(plugin.folder)) };
    // A file cannot contain its own digest.
    if (expected === manifestDigests) delete actualDigests[PLUGIN_FILE];
    const reason = compare(actualDigests, expected);
    return reason === null ? null : { state: 'failed', reason };
  } catch (error) {
    if (!(error instanceof DigestError)) throw error;
    return { state: 'failed', reason: `cannot be compared with its digests: ${error.message}` };
  }
}

function compare(actual: FileDigests, expected: FileDigests): string | null {
  const paths = [...new Set([...Object.keys(actual), ...Object.keys(expected)])].sort();
  const differences = paths.flatMap((path) => {
    if (!Object.hasOwn(expected, path)) return [`'${path}' has none`];
    if (!Object.hasOwn(actual, path)) return [`'${path}' is missing`];
    return actual[path] === expected[path] ? [] : [`'${path}' differs`];
  });
  if (differences.length === 0) return null;
  const namedFiles = differences.slice(0, MAX_NAMED).join(', ');
  const suffix =
    differences.length > MAX_NAMED ? ` and ${differences.length - MAX_NAMED} more` : '';
  return `does not match its digests: ${namedFiles}${suffix}`;
}

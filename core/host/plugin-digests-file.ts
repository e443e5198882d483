import { record } from 'superstruct';
import { parseByStruct } from '../document/parse-file.js';
import { fileDigests } from '../plugin-loader/digests.js';
import type { PluginDigests } from '../plugin-loader/integrity.js';
import { pluginName } from '../plugin-loader/plugin-manifest.js';

const DIGESTS_FILE = record(pluginName, fileDigests());

/**
 * Parses `{<plugin>: {<path>: sha256:…}}`, JSON or YAML, as `modgate plugins digest` prints it.
 * @throws InvalidFile with the place of each fault.
 */
export function parsePluginDigests(file: string, text: string): PluginDigests {
  return parseByStruct(file, text, DIGESTS_FILE).value;
}

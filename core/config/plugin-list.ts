import { resolve } from 'node:path';
import type { SettingKind } from './setting-kind.js';

/** Where plugins are looked for: a folder of them, or one package of npm's. */
export type PluginSource =
  | { readonly kind: 'folder'; readonly path: string }
  | {
      readonly kind: 'package';
      readonly name: string;
      /** Its `node_modules` is looked for here, then in every folder above. */
      readonly directories: readonly string[];
    };

/** What npm takes for a name, in lower case. */
const PACKAGE_NAME = /^(?=.{1,214}$)(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const PATH = /^(?:\.{1,2}(?:\/|$)|\/)/;

/**
 * A folder of plugins; in a configuration file also a list of folders, which start with `./`, `../` or
 * `/`, and names of npm packages.
 */
export const pluginList: SettingKind<readonly PluginSource[]> = {
  placeholder: 'dir',
  expected: 'the path of a folder, or in a file a list of folders (./plugins) and npm packages',
  fileType: 'string',
  parse: (text, directory) => (isPath(text) ? [createFolder(text, directory)] : undefined),
  parseValue: (value, directory) => {
    if (!Array.isArray(value)) return undefined;
    const sources = value.map((entry) => parseEntry(entry, directory));
    return sources.every((source) => source !== null) ? sources : undefined;
  },
};

function parseEntry(entry: unknown, directory: string): PluginSource | null {
  if (typeof entry !== 'string') return null;
  if (PATH.test(entry)) return isPath(entry) ? createFolder(entry, directory) : null;
  if (!PACKAGE_NAME.test(entry)) return null;
  return { kind: 'package', name: entry, directories: [resolve(directory), resolve('.')] };
}

function createFolder(text: string, directory: string): PluginSource {
  return { kind: 'folder', path: resolve(directory, text) };
}

function isPath(text: string): boolean {
  return text !== '' && !text.includes('\0');
}

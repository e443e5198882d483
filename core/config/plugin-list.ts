import { resolve } from 'node:path';
import type { SettingKind } from './setting-kind.js';

/** A folder of plugins, or one npm package. */
export type PluginSource =
  | { readonly kind: 'folder'; readonly path: string }
  | {
      readonly kind: 'package';
      readonly name: string;
      /** The folders from which the package is resolved. */
      readonly directories: readonly string[];
    };

/** The names of authenticators and surfaces. */
export const PART_NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** The names that npm accepts, in lower case. */
const PACKAGE_NAME = /^(?=.{1,214}$)(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const PATH = /^(?:\.{1,2}(?:\/|$)|\/)/;

/**
 * A folder of plugins or an npm package with a scope; in a configuration file also a list of folders,
 * which start with `./`, `../` or `/`, and names of npm packages.
 */
export const pluginList: SettingKind<readonly PluginSource[]> = {
  placeholder: 'dir',
  expected:
    'a folder, an npm package such as @acme/x, or in a file a list of folders (./plugins) and packages',
  fileType: 'string',
  parse: (text, directory) => {
    if (text.startsWith('@') && PACKAGE_NAME.test(text)) return [createPackage(text, directory)];
    return isPath(text) ? [createFolder(text, directory)] : undefined;
  },
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
  return createPackage(entry, directory);
}

function createPackage(name: string, directory: string): PluginSource {
  return { kind: 'package', name, directories: [resolve(directory), resolve('.')] };
}

function createFolder(text: string, directory: string): PluginSource {
  return { kind: 'folder', path: resolve(directory, text) };
}

function isPath(text: string): boolean {
  return text !== '' && !text.includes('\0');
}

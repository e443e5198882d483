import { realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { array, boolean, type Infer, integer, object, optional, refine, size } from 'superstruct';
import { matching } from '../contract/described.js';
import { CONTRACT_VERSION } from '../contract/index.js';
import {
  InvalidText,
  parseStructuredText,
  type StructuredText,
} from '../document/parse-document.js';
import type { Position } from '../document/position.js';
import { FileError, readTextFile } from '../document/read-file.js';
import { validateStruct } from '../document/validate.js';
import { readMember } from '../lib/read-member.js';
import { type FileDigests, fileDigests } from './digests.js';
import { PluginError } from './plugin-error.js';

export const PLUGIN_FILE = 'plugin.json';

const NAME = /^[a-z][a-z0-9-]*$/;
const VERSION = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/;
/** A plugin is one transport, or a family of transports. */
const MAX_KINDS = 64;

const names = (noun: string) =>
  refine(
    size(array(matching(`a ${noun} of a-z, 0-9 and -`, NAME)), 1, MAX_KINDS),
    `a list of ${noun}s that differ`,
    (list) => new Set(list).size === list.length,
  );

/** For people, on a terminal. */
const line = matching('a line of 1 to 200 printable ASCII characters', /^[\x20-\x7e]{1,200}$/);

export const pluginName = matching('a name of a-z, 0-9 and -', NAME);

/** An importer of the host itself. */
export const OWN_IMPORTER = 'openapi';
const MAX_OPTIONS = 32;

const importerOption = object({
  name: matching('a name of a-z, 0-9 and -', NAME),
  /** What the value is, such as `file`; a flag without a value otherwise. */
  value: optional(line),
  /** The only values. */
  choices: optional(size(array(matching('a word of a-z, 0-9 and -', NAME)), 1, MAX_OPTIONS)),
  /** Whether it may be given several times; its value is then the list of them. Default false. */
  repeats: optional(boolean()),
  help: line,
});

const importers = refine(
  size(
    array(
      object({
        name: refine(
          matching('a name of a-z, 0-9 and -', NAME),
          `a name other than ${OWN_IMPORTER}, which the host has`,
          (name) => name !== OWN_IMPORTER,
        ),
        source: line,
        options: optional(size(array(importerOption), 0, MAX_OPTIONS)),
      }),
    ),
    1,
    MAX_KINDS,
  ),
  'a list of importers with names that differ',
  (list) => new Set(list.map(({ name }) => name)).size === list.length,
);

const pluginFile = object({
  name: pluginName,
  version: matching('a version such as 1.0.0', VERSION),
  contract: integer(),
  kinds: optional(names('kind')),
  authenticators: optional(names('name')),
  surfaces: optional(names('name')),
  signers: optional(names('name')),
  importers: optional(importers),
  entry: matching("a path in the plugin's folder, such as './index.js'", /^\.\/[^\0]+$/),
  digests: optional(fileDigests()),
});

export type PluginOrigin =
  /** The plugin ships with the host, and is trusted like it. */
  | 'shipped'
  /** The plugin is in a folder of plugins. */
  | 'folder'
  /** The plugin is under `node_modules`. */
  | 'package';

interface NamedPlugin {
  readonly origin: PluginOrigin;
  readonly folder: string;
  readonly name: string;
  readonly kinds: readonly string[];
  readonly authenticators: readonly string[];
  readonly surfaces: readonly string[];
  readonly signers: readonly string[];
  readonly importers: readonly string[];
}

/** A plugin as its `plugin.json` describes it, before any of its code runs. */
export interface PluginManifest extends NamedPlugin {
  readonly version: string;
  readonly declaredImporters: readonly DeclaredImporter[];
  /** `null` when its `plugin.json` has none. */
  readonly digests: FileDigests | null;
  /** Absolute, symbolic links resolved. */
  readonly entryPath: string;
}

/** An importer as its `plugin.json` describes it. */
export interface DeclaredImporter {
  readonly name: string;
  /** What the source may be. */
  readonly source: string;
  readonly options: readonly DeclaredOption[];
}

export type DeclaredOption = Infer<typeof importerOption>;

/** A plugin that offers nothing. */
export const NO_NAMES = {
  kinds: [],
  authenticators: [],
  surfaces: [],
  signers: [],
  importers: [],
} as const;

/**
 * An unusable plugin, with the readable parts of its `plugin.json`. A descriptor with one of its
 * kinds shows the error of the plugin, not an unknown kind.
 */
export interface RejectedPlugin extends NamedPlugin {
  readonly version: string | null;
  readonly error: PluginError;
}

/** Never rejects for an invalid plugin, so that it does not affect others. */
export async function readPluginManifest(
  folder: string,
  origin: PluginOrigin,
): Promise<PluginManifest | RejectedPlugin> {
  let document: StructuredText | null = null;
  try {
    document = await readPluginFile(folder);
    return { ...(await validatePluginFile(folder, document)), origin };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    const value = document?.value;
    return {
      origin,
      folder,
      name: error.plugin,
      version: readVersion(value),
      kinds: readNames(value, 'kinds'),
      authenticators: readNames(value, 'authenticators'),
      surfaces: readNames(value, 'surfaces'),
      signers: readNames(value, 'signers'),
      importers: [],
      error,
    };
  }
}

export function isRejectedPlugin(
  plugin: PluginManifest | RejectedPlugin,
): plugin is RejectedPlugin {
  return 'error' in plugin;
}

async function readPluginFile(folder: string): Promise<StructuredText> {
  const name = basename(folder);
  try {
    return parseStructuredText(await readTextFile(join(folder, PLUGIN_FILE)), 'json');
  } catch (error) {
    if (error instanceof FileError) {
      const problem = `has a plugin.json that ${error.message}`;
      throw new PluginError(name, 'manifest', problem, null, { cause: error });
    }
    if (!(error instanceof InvalidText)) throw error;
    const [violation] = error.violations;
    throw createFileError(
      name,
      violation ?? null,
      violation?.message ?? 'it is not JSON',
      violation?.hint ?? null,
    );
  }
}

function createFileError(
  name: string,
  place: Position | null,
  message: string,
  hint: string | null,
): PluginError {
  const suffix = place === null ? '' : `:${place.line}:${place.column}`;
  return new PluginError(name, 'manifest', `has a bad plugin.json${suffix}: ${message}`, hint);
}

async function validatePluginFile(
  folder: string,
  { value, locate }: StructuredText,
): Promise<Omit<PluginManifest, 'origin'>> {
  const name = readName(value) ?? basename(folder);
  // Checked first: a plugin for another contract may have unknown keys.
  const contract = readMember(value, 'contract');
  if (Number.isInteger(contract) && contract !== CONTRACT_VERSION) {
    const problem = `is written for contract ${contract}, this host has ${CONTRACT_VERSION}`;
    const hint =
      Number(contract) > CONTRACT_VERSION ? 'update the host' : 'install a newer version of it';
    throw new PluginError(name, 'contract', problem, hint);
  }
  const { violations, value: validated } = validateStruct(value, pluginFile);
  const [violation] = violations;
  if (violation !== undefined) {
    const { path, at, message, hint } = violation;
    throw createFileError(name, locate(path, at), message, hint);
  }
  const {
    version,
    kinds = [],
    authenticators = [],
    surfaces = [],
    signers = [],
    importers = [],
    entry,
    digests = null,
  } = validated as Infer<typeof pluginFile>;
  const declaredImporters = importers.map(({ options = [], ...rest }) => ({ ...rest, options }));
  const importerNames = importers.map(({ name }) => name);
  const offered = { kinds, authenticators, surfaces, signers, importers: importerNames };
  if (Object.values(offered).every(({ length }) => length === 0)) {
    const message = "it must have 'kinds', 'authenticators', 'surfaces', 'signers' or 'importers'";
    throw createFileError(name, locate([], 'value'), message, null);
  }
  const entryPath = await findEntry(name, folder, entry);
  return { folder, name, version, ...offered, declaredImporters, digests, entryPath };
}

async function findEntry(name: string, folder: string, entry: string): Promise<string> {
  const [root, path] = await Promise.all([realpath(folder), findFile(join(folder, entry))]);
  if (path === null) {
    throw new PluginError(name, 'entry', `has no file '${entry}'`, 'is it built?');
  }
  if (!path.startsWith(root + sep)) {
    throw new PluginError(name, 'entry', 'has an entry outside of its folder', null);
  }
  return path;
}

async function findFile(path: string): Promise<string | null> {
  try {
    return (await stat(path)).isFile() ? await realpath(path) : null;
  } catch {
    return null;
  }
}

function readName(value: unknown): string | null {
  const name = readMember(value, 'name');
  return typeof name === 'string' && NAME.test(name) ? name : null;
}

function readVersion(value: unknown): string | null {
  const version = readMember(value, 'version');
  return typeof version === 'string' && VERSION.test(version) ? version : null;
}

function readNames(value: unknown, key: string): string[] {
  const names = readMember(value, key);
  if (!Array.isArray(names)) return [];
  return names.filter((name) => typeof name === 'string' && NAME.test(name)).slice(0, MAX_KINDS);
}

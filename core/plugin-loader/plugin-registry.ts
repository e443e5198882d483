import { resolve } from 'node:path';
import type { PluginSource } from '../config/plugin-list.js';
import type {
  AuthenticatorFactory,
  Importer,
  Log,
  ProviderAdapter,
  SignerFactory,
  SurfaceFactory,
} from '../contract/index.js';
import type { PluginStatus } from '../contract/plugin-status.js';
import { suggestName } from '../document/suggest.js';
import { isTransient } from '../document/transient-error.js';
import type { AdapterSource } from './adapter-source.js';
import {
  type FoundPlugin,
  findPlugins,
  listWatchedFolders,
  SHIPPED_PLUGINS,
} from './find-plugins.js';
import type { PluginExports } from './import-plugin.js';
import { PluginEntry, type PluginTrust, readStamp } from './plugin-entry.js';
import { PluginError } from './plugin-error.js';
import { type DeclaredImporter, isRejectedPlugin } from './plugin-manifest.js';

export interface FoundSurface {
  readonly factory: SurfaceFactory;
  readonly plugin: string;
  readonly isShipped: boolean;
}

export interface PluginOptions extends Partial<PluginTrust> {}

type ExportName = keyof PluginExports;

type Exported<K extends ExportName> =
  PluginExports[K] extends ReadonlyMap<string, infer Value> ? Value : never;

type PluginIndex = Readonly<Record<ExportName, ReadonlyMap<string, PluginEntry>>>;

/** The noun for an export in messages, and the member of `plugin.json` that lists its names. */
const EXPORTS = {
  adapters: { noun: 'kind of provider', declared: 'kinds' },
  authenticators: { noun: 'authenticator', declared: 'authenticators' },
  surfaces: { noun: 'surface', declared: 'surfaces' },
  signers: { noun: 'signer', declared: 'signers' },
  importers: { noun: 'importer', declared: 'importers' },
} as const satisfies Record<ExportName, { noun: string; declared: string }>;

export const SILENT_LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Reads `<folder>/<plugin>/plugin.json` of all sources, in their order, and runs no code. Of two plugins
 * with the same name, kind or authenticator, the second is rejected. Shipped plugins come first, so that
 * no other plugin can replace the kind `http`.
 * @param sources a string is the path of a folder
 * @throws the error of `readdir` for a folder that cannot be read.
 */
export async function readPlugins(
  sources: readonly (PluginSource | string)[],
  { integrity = 'off', digests = {}, log = SILENT_LOG }: PluginOptions = {},
): Promise<PluginRegistry> {
  const trust: PluginTrust = { integrity, digests, log };
  const registry = new PluginRegistry(sources.map(toSource), trust);
  await registry.refresh();
  return registry;
}

function toSource(source: PluginSource | string): PluginSource {
  return typeof source === 'string' ? { kind: 'folder', path: source } : source;
}

/** Imports plugins on first use. Their errors name plugin, stage and hint. */
export class PluginRegistry implements AdapterSource {
  readonly #sources: readonly PluginSource[];
  readonly #trust: PluginTrust;
  #entries: readonly PluginEntry[] = [];
  #clashes: ReadonlyMap<PluginEntry, PluginError> = new Map();
  #byName: PluginIndex = indexEntries([]);
  #refreshing: Promise<boolean> | null = null;

  constructor(sources: readonly PluginSource[], trust: PluginTrust) {
    this.#sources = sources;
    this.#trust = trust;
  }

  kinds(): readonly string[] {
    return [...this.#byName.adapters.keys()];
  }

  authenticators(): readonly string[] {
    return [...this.#byName.authenticators.keys()];
  }

  surfaces(): readonly string[] {
    return [...this.#byName.surfaces.keys()];
  }

  signers(): readonly string[] {
    return [...this.#byName.signers.keys()];
  }

  async adapter(kind: string): Promise<ProviderAdapter> {
    return (await this.#find('adapters', kind)).found;
  }

  isShipped(kind: string): boolean {
    return this.#byName.adapters.get(kind)?.read.origin === 'shipped';
  }

  async authenticator(name: string): Promise<AuthenticatorFactory> {
    return (await this.#find('authenticators', name)).found;
  }

  async surface(name: string): Promise<FoundSurface> {
    const { found: factory, entry } = await this.#find('surfaces', name);
    return { factory, plugin: entry.read.name, isShipped: entry.read.origin === 'shipped' };
  }

  async signer(name: string): Promise<SignerFactory> {
    return (await this.#find('signers', name)).found;
  }

  /** The importers, as the `plugin.json` files describe them. */
  importers(): readonly DeclaredImporter[] {
    return [...this.#byName.importers].flatMap(([name, { read }]) =>
      isRejectedPlugin(read) ? [] : read.declaredImporters.filter((one) => one.name === name),
    );
  }

  async importer(name: string): Promise<Importer> {
    return (await this.#find('importers', name)).found;
  }

  /** Lists them in the order of the sources, and by name within each. */
  list(): readonly PluginStatus[] {
    return this.#entries.map((entry) => entry.readStatus(this.#clashes.get(entry) ?? null));
  }

  /** Compares the files of all plugins with their digests without running their code. */
  async verify(): Promise<void> {
    await Promise.all(this.#entries.map((entry) => entry.verify()));
  }

  /**
   * Lists the folders in which plugins may appear or change, and a stamp that changes with them.
   * @throws the error of `readdir` for a folder that cannot be read.
   */
  async locate() {
    const sources = this.#sources.filter(
      (source) => source.kind !== 'folder' || resolve(source.path) !== SHIPPED_PLUGINS,
    );
    const foundPlugins = await findPlugins(sources);
    const stamps = foundPlugins.map(async (plugin) =>
      'error' in plugin ? plugin.folder : `${plugin.folder}\n${await readStamp(plugin.folder)}`,
    );
    const folders = await listWatchedFolders(sources);
    return { folders, stamp: (await Promise.all(stamps)).join('\n') };
  }

  /**
   * Scans for plugins again: imported plugins stay unchanged, others are read again when they
   * changed. Serialized, because it replaces the entries.
   * @param force also reads rejected plugins that have not changed
   * @returns whether anything changed.
   */
  async refresh(force = false): Promise<boolean> {
    while (this.#refreshing !== null) await this.#refreshing.catch(() => {});
    this.#refreshing = this.#refresh(force).finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #refresh(force: boolean): Promise<boolean> {
    const foundPlugins = await findPlugins(this.#sources);
    const byFolder = new Map(this.#entries.map((entry) => [entry.read.folder, entry]));
    const entries = await Promise.all(
      foundPlugins.map((plugin) =>
        this.#keepOrRead(plugin, byFolder.get(plugin.folder) ?? null, force),
      ),
    );
    // Their code is still running, so modules keep their kinds.
    const removed = this.#entries.filter(
      (entry) =>
        entry.isImported && !foundPlugins.some(({ folder }) => folder === entry.read.folder),
    );
    const before = JSON.stringify(this.list());
    const hasNew = entries.some((entry) => !this.#entries.includes(entry) && !isMissing(entry));
    this.#index([...entries, ...removed]);
    return hasNew || before !== JSON.stringify(this.list());
  }

  async #keepOrRead(
    found: FoundPlugin,
    existing: PluginEntry | null,
    force: boolean,
  ): Promise<PluginEntry> {
    if (existing !== null && !('error' in found)) {
      if (existing.isImported || existing.isLoading) return existing;
      // Shipped plugins do not change while the host runs.
      if (found.origin === 'shipped' && !isRejectedPlugin(existing.read)) return existing;
      const isSame =
        existing.stamp === (await readStamp(found.folder)) &&
        !(isRejectedPlugin(existing.read) && isTransient(existing.read.error));
      if (isSame && !(force && existing.readStatus(null).state === 'refused')) return existing;
    }
    return PluginEntry.read(found, this.#trust);
  }

  /** Imported plugins keep their names, kinds and authenticators. */
  #index(entries: readonly PluginEntry[]): void {
    const imported = entries.filter(({ isImported }) => isImported);
    const others = entries.filter(({ isImported }) => !isImported);
    this.#entries = entries;
    this.#clashes = findClashes([...imported, ...others]);
    const usable = entries.filter((entry) => !this.#isRejected(entry));
    const rejected = entries.filter((entry) => this.#isRejected(entry));
    this.#byName = indexEntries([...usable, ...rejected]);
  }

  #isRejected(entry: PluginEntry): boolean {
    return isRejectedPlugin(entry.read) || this.#clashes.has(entry);
  }

  /** Imports the plugin on first use. */
  async #find<K extends ExportName>(exported: K, name: string) {
    const { noun, declared } = EXPORTS[exported];
    const index = this.#byName[exported];
    const entry = index.get(name);
    if (entry === undefined) throw this.#createUnknownError(noun, name, [...index.keys()]);
    const exportOfPlugin = (await this.#load(entry))[exported].get(name) as Exported<K> | undefined;
    if (exportOfPlugin === undefined)
      throw this.#createUnknownError(noun, name, entry.read[declared]);
    return { found: exportOfPlugin, entry };
  }

  #load(entry: PluginEntry) {
    const clash = this.#clashes.get(entry);
    return clash === undefined ? entry.load() : Promise.reject(clash);
  }

  /** Names plugins with unreadable kinds too, because one of them may be the missing one. */
  #createUnknownError(noun: string, name: string, declaredNames: readonly string[]): Error {
    const suspects = this.list().filter(({ kinds, authenticators, surfaces, signers, importers }) =>
      [kinds, authenticators, surfaces, signers, importers].every(({ length }) => length === 0),
    );
    const suspect = suspects[0];
    const hint = suspect?.reason ?? suggestName(name, declaredNames);
    return new Error(`no plugin has that ${noun}${hint === null ? '' : ` (${hint})`}`);
  }
}

function isMissing({ read }: PluginEntry): boolean {
  return isRejectedPlugin(read) && read.error.stage === 'find';
}

function findClashes(entries: readonly PluginEntry[]): ReadonlyMap<PluginEntry, PluginError> {
  const clashes = new Map<PluginEntry, PluginError>();
  const owners = new Map<string, PluginEntry>();
  for (const entry of entries) {
    const { read } = entry;
    if (isRejectedPlugin(read)) continue;
    const claims = listClaims(entry);
    const clash = claims.find(({ id }) => owners.has(id));
    const owner = clash === undefined ? undefined : owners.get(clash.id);
    if (clash !== undefined && owner !== undefined) {
      const problem = clash.describe(owner);
      clashes.set(entry, new PluginError(read.name, 'clash', problem, 'remove one of them'));
    } else {
      for (const { id } of claims) owners.set(id, entry);
    }
  }
  return clashes;
}

/** The values that must be unique among plugins. */
function listClaims({ read }: PluginEntry) {
  const nameClaim = {
    id: `plugin ${read.name}`,
    describe: (owner: PluginEntry) =>
      `in ${read.folder} has the name of the one in ${owner.read.folder}`,
  };
  const claim = (word: string) => (name: string) => ({
    id: `${word} ${name}`,
    describe: (owner: PluginEntry) =>
      `has the ${word} '${name}' of plugin '${owner.read.name}', which keeps it`,
  });
  return [
    nameClaim,
    ...read.kinds.map(claim('kind')),
    ...read.authenticators.map(claim('authenticator')),
    ...read.surfaces.map(claim('surface')),
    ...read.signers.map(claim('signer')),
    ...read.importers.map(claim('importer')),
  ];
}

function indexEntries(entries: readonly PluginEntry[]): PluginIndex {
  const index = (exported: ExportName) =>
    indexBy(entries, ({ read }) => read[EXPORTS[exported].declared]);
  return {
    adapters: index('adapters'),
    authenticators: index('authenticators'),
    surfaces: index('surfaces'),
    signers: index('signers'),
    importers: index('importers'),
  };
}

/** A name belongs to the first usable plugin, otherwise to the first rejected one. */
function indexBy(
  entries: readonly PluginEntry[],
  listNames: (entry: PluginEntry) => readonly string[],
): ReadonlyMap<string, PluginEntry> {
  const index = new Map<string, PluginEntry>();
  for (const entry of entries) {
    for (const name of listNames(entry)) if (!index.has(name)) index.set(name, entry);
  }
  return index;
}

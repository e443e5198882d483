import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { IntegrityPolicy } from '../config/settings.js';
import type { Log } from '../contract/index.js';
import { nameError, runAs } from '../isolation/error-owner.js';
import { UncaughtErrors } from '../isolation/uncaught-errors.js';
import type { FoundPlugin } from './find-plugins.js';
import { importPlugin, type PluginExports } from './import-plugin.js';
import { type PluginDigests, verifyIntegrity } from './integrity.js';
import { PluginError } from './plugin-error.js';
import {
  isRejected,
  type PluginManifest,
  type RejectedPlugin,
  readPluginManifest,
} from './plugin-manifest.js';
import type { PluginState, PluginStatus } from './plugin-status.js';
import { tryImport } from './trial-import.js';

export interface PluginTrust {
  readonly integrity: IntegrityPolicy;
  readonly digests: PluginDigests;
  readonly log: Log;
}

/** One plugin: what its `plugin.json` says and, once somebody has asked for it, its code. */
export class PluginEntry {
  readonly read: PluginManifest | RejectedPlugin;
  /** Changes when something in its folder does. */
  readonly stamp: string;
  readonly #trust: PluginTrust;
  readonly #strays: UncaughtErrors;
  #loading: Promise<PluginExports> | null = null;
  #failure: PluginError | null = null;
  #isLoaded = false;
  #isImported = false;
  #integrity: PluginStatus['integrity'];
  /** Why it is used unverified. */
  #warning: PluginError | null = null;

  constructor(read: PluginManifest | RejectedPlugin, stamp: string, trust: PluginTrust) {
    this.read = read;
    this.stamp = stamp;
    this.#trust = trust;
    this.#strays = new UncaughtErrors(
      {
        ...trust.log,
        error: (fields, message) => trust.log.error({ plugin: read.name, ...fields }, message),
      },
      'the code of the plugin left an error uncaught',
    );
    this.#integrity = this.#isExempt ? 'off' : 'unchecked';
  }

  static async read(found: FoundPlugin, trust: PluginTrust): Promise<PluginEntry> {
    if ('error' in found) return new PluginEntry(found, '', trust);
    const stamp = await readStamp(found.folder);
    return new PluginEntry(await readPluginManifest(found.folder, found.origin), stamp, trust);
  }

  /** Node has its code for good: what is in its folder now makes no difference any more. */
  get isImported(): boolean {
    return this.#isImported;
  }

  get isLoading(): boolean {
    return this.#loading !== null && !this.#isLoaded && this.#failure === null;
  }

  /**
   * Imports it, at the first call alone.
   * @throws PluginError that says why it cannot be used.
   */
  load(): Promise<PluginExports> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Compares its files with their digests, without any of its code. */
  async verify(): Promise<void> {
    if (isRejected(this.read) || this.#isExempt) return;
    try {
      await this.#judgeIntegrity(this.read);
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      this.#failure = error;
    }
  }

  /** @param clash what keeps it from being used beside the others */
  describe(clash: PluginError | null): PluginStatus {
    const { name, version, folder, origin, kinds, authenticators } = this.read;
    const error = (isRejected(this.read) ? this.read.error : null) ?? clash ?? this.#failure;
    const trouble = error ?? this.#describeFault() ?? this.#warning;
    return {
      name,
      version,
      origin,
      folder,
      kinds,
      authenticators,
      state: error === null ? this.#describeState() : 'refused',
      stage: error?.stage ?? null,
      integrity: this.#integrity,
      reason: trouble?.reason ?? null,
      hint: trouble?.hint ?? null,
    };
  }

  get #isExempt(): boolean {
    return this.#trust.integrity === 'off' || this.read.origin === 'shipped';
  }

  #describeState(): PluginState {
    if (this.#strays.first !== null) return 'faulted';
    return this.#isLoaded ? 'loaded' : 'known';
  }

  #describeFault(): { readonly reason: string; readonly hint: string } | null {
    const { first } = this.#strays;
    if (first === null) return null;
    const reason = `plugin '${this.read.name}' left an error uncaught outside of any module: ${nameError(first.error)}`;
    return { reason, hint: 'the log has the error; only a restart of the host takes up new code' };
  }

  async #load(): Promise<PluginExports> {
    try {
      if (isRejected(this.read)) throw this.read.error;
      return await this.#import(this.read);
    } catch (error) {
      if (error instanceof PluginError) this.#failure = error;
      throw error;
    }
  }

  async #import(plugin: PluginManifest): Promise<PluginExports> {
    if (!this.#isExempt) await this.#judgeIntegrity(plugin);
    if (plugin.origin !== 'shipped') await tryImport(plugin);
    this.#isImported = true;
    // To own what is shipped would cost each request of Node.js 20 (see `OWN_KINDS`), for code of our own.
    const owner = plugin.origin === 'shipped' ? null : this.#strays;
    const exports = await runAs(owner, () => importPlugin(plugin));
    this.#isLoaded = true;
    return exports;
  }

  async #judgeIntegrity(plugin: PluginManifest): Promise<void> {
    const { integrity, digests, log } = this.#trust;
    const trouble = await verifyIntegrity(plugin, digests);
    this.#integrity = trouble === null ? 'verified' : 'failed';
    if (trouble === null) return;
    const hint = `'modgate plugins digest ${plugin.folder}' prints what its files are now`;
    const error = new PluginError(plugin.name, 'integrity', trouble, hint);
    if (integrity === 'enforce') throw error;
    this.#warning = error;
    log.warn({ plugin: plugin.name, reason: error.reason, hint }, 'a plugin is used unverified');
  }
}

/** Of what lies in the folder itself: an installation of dependencies shows there too. */
export async function readStamp(folder: string): Promise<string> {
  try {
    const names = (await readdir(folder)).toSorted();
    const parts = await Promise.all(
      names.map(async (name) => {
        const { mtimeMs, size, ino } = await stat(join(folder, name));
        return `${name} ${mtimeMs} ${size} ${ino}`;
      }),
    );
    return parts.join('\n');
  } catch (error) {
    return `unreadable: ${(error as NodeJS.ErrnoException).code}`;
  }
}

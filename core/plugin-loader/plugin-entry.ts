import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { IntegrityPolicy } from '../config/settings.js';
import type { Log } from '../contract/index.js';
import type { PluginStatus } from '../contract/plugin-status.js';
import { runAs } from '../isolation/error-owner.js';
import { attributeByStack } from '../isolation/shipped-code.js';
import { UncaughtErrors } from '../isolation/uncaught-errors.js';
import { nameError } from '../lib/name-error.js';
import type { FoundPlugin } from './find-plugins.js';
import { importPlugin, type PluginExports } from './import-plugin.js';
import { type PluginDigests, verifyIntegrity } from './integrity.js';
import { PluginError } from './plugin-error.js';
import {
  isRejectedPlugin,
  type PluginManifest,
  type RejectedPlugin,
  readPluginManifest,
} from './plugin-manifest.js';
import { tryImport } from './trial-import.js';

export interface PluginTrust {
  readonly integrity: IntegrityPolicy;
  readonly digests: PluginDigests;
  readonly log: Log;
}

/** One plugin: its `plugin.json` and, after its first use, its code. */
export class PluginEntry {
  readonly read: PluginManifest | RejectedPlugin;
  /** Changes with the content of its folder. */
  readonly stamp: string;
  readonly #trust: PluginTrust;
  readonly #uncaughtErrors: UncaughtErrors;
  #loading: Promise<PluginExports> | null = null;
  #failure: PluginError | null = null;
  #isLoaded = false;
  #isImported = false;
  #integrity: PluginStatus['integrity'];
  /** The reason why its integrity is not verified, under the policy `warn`. */
  #warning: PluginError | null = null;

  constructor(read: PluginManifest | RejectedPlugin, stamp: string, trust: PluginTrust) {
    this.read = read;
    this.stamp = stamp;
    this.#trust = trust;
    this.#uncaughtErrors = new UncaughtErrors(
      {
        ...trust.log,
        error: (fields, message) => trust.log.error({ plugin: read.name, ...fields }, message),
      },
      'uncaught error in plugin code',
    );
    this.#integrity = this.#isExempt ? 'off' : 'unchecked';
  }

  static async read(foundPlugin: FoundPlugin, trust: PluginTrust): Promise<PluginEntry> {
    if ('error' in foundPlugin) return new PluginEntry(foundPlugin, '', trust);
    const stamp = await readStamp(foundPlugin.folder);
    return new PluginEntry(
      await readPluginManifest(foundPlugin.folder, foundPlugin.origin),
      stamp,
      trust,
    );
  }

  /** Node keeps imported code: later changes in the folder have no effect. */
  get isImported(): boolean {
    return this.#isImported;
  }

  get isLoading(): boolean {
    return this.#loading !== null && !this.#isLoaded && this.#failure === null;
  }

  /**
   * Imports it at the first call.
   * @throws PluginError when it cannot be used.
   */
  load(): Promise<PluginExports> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Compares its files with their digests without running its code. */
  async verify(): Promise<void> {
    if (isRejectedPlugin(this.read) || this.#isExempt) return;
    try {
      await this.#verifyIntegrity(this.read);
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      this.#failure = error;
    }
  }

  /** @param clash the reason why it cannot be used together with the others */
  readStatus(clash: PluginError | null): PluginStatus {
    const { name, version, folder, origin } = this.read;
    const { kinds, authenticators, surfaces, signers, importers } = this.read;
    const error = (isRejectedPlugin(this.read) ? this.read.error : null) ?? clash ?? this.#failure;
    const problem = error ?? this.#describeFault() ?? this.#warning;
    return {
      name,
      version,
      origin,
      folder,
      kinds,
      authenticators,
      surfaces,
      signers,
      importers,
      state: error === null ? this.#readState() : 'refused',
      stage: error?.stage ?? null,
      integrity: this.#integrity,
      reason: problem?.reason ?? null,
      hint: problem?.hint ?? null,
    };
  }

  get #isExempt(): boolean {
    return this.#trust.integrity === 'off' || this.read.origin === 'shipped';
  }

  #readState(): PluginStatus['state'] {
    if (this.#uncaughtErrors.first !== null) return 'faulted';
    return this.#isLoaded ? 'loaded' : 'known';
  }

  #describeFault(): { readonly reason: string; readonly hint: string } | null {
    const { first } = this.#uncaughtErrors;
    if (first === null) return null;
    const reason = `plugin '${this.read.name}' has an uncaught error outside of any module: ${nameError(first.error)}`;
    return { reason, hint: 'see the log for the error; restart the host to load new code' };
  }

  async #load(): Promise<PluginExports> {
    try {
      if (isRejectedPlugin(this.read)) throw this.read.error;
      return await this.#import(this.read);
    } catch (error) {
      if (error instanceof PluginError) this.#failure = error;
      // Such as the lack of a thread: the next use tries again.
      else this.#loading = null;
      throw error;
    }
  }

  async #import(plugin: PluginManifest): Promise<PluginExports> {
    if (!this.#isExempt) await this.#verifyIntegrity(plugin);
    if (plugin.origin !== 'shipped') await tryImport(plugin);
    this.#isImported = true;
    const isShipped = plugin.origin === 'shipped';
    if (isShipped) attributeByStack(plugin.folder, this.#uncaughtErrors);
    const exports = await runAs(isShipped ? null : this.#uncaughtErrors, () =>
      importPlugin(plugin),
    );
    this.#isLoaded = true;
    return exports;
  }

  async #verifyIntegrity(plugin: PluginManifest): Promise<void> {
    const { integrity, digests, log } = this.#trust;
    const problem = await verifyIntegrity(plugin, digests);
    this.#integrity = problem?.state ?? 'verified';
    if (problem === null) return;
    const hint = `compare with 'modgate plugins digest ${plugin.folder}'`;
    const error = new PluginError(plugin.name, 'integrity', problem.reason, hint);
    if (integrity === 'enforce') throw error;
    this.#warning = error;
    log.warn({ plugin: plugin.name, reason: error.reason, hint }, 'plugin not verified');
  }
}

/** Covers the top level of the folder, which also shows an installation of dependencies. */
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

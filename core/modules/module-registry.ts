import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../contract/index.js';
import { normalizeHost } from '../descriptor/mounts.js';
import { isolate } from '../isolation/isolate.js';
import { mapConcurrently } from '../lib/promises.js';
import { type DirectoryListing, omitUsedFiles, UnreadableDirectory } from '../watch/directory.js';
import { DirectoryScanner, type ScanResult } from '../watch/directory-scanner.js';
import { Watcher } from '../watch/watcher.js';
import { ChangePublisher, ChangeSignal } from './change-publisher.js';
import { LostVersions } from './last-good.js';
import type { Generation, GenerationSource, WaitingModule, WaitingSource } from './live-module.js';
import { compareRecords, type ModuleRecord, REJECTED_STATES } from './module-record.js';
import { ModuleSlot, type SlotContext } from './module-slot.js';
import { createMountTable, type MountSource, NO_MOUNTS } from './mount-table.js';
import { hasMovingName, settleNames } from './settle-names.js';
import type { StatusSink } from './status-files.js';

/** How long a start waits for manifests from providers; after that the modules are `waiting`. */
const START_TIMEOUT_MS = 2000;
const MODULES_AT_ONCE = 16;

export interface ModuleRegistryOptions
  extends Omit<SlotContext, 'pathOf' | 'isNameFree' | 'onLiveChange' | 'onRecordChange'> {
  /** The folder of descriptors. */
  readonly modulesDir: string;
  /** `null`: no status files are written. */
  readonly statusSink: StatusSink | null;
  /**
   * The folder that holds the link `modulesDir`. The target of the link is complete, so its files
   * need not settle. Absent for a folder that people write to.
   */
  readonly linkFolder?: string;
  /** The origin of the public URL; `null` if none is configured. */
  readonly publicOrigin: string | null;
  /** The file that already serves in another process, by name and mount, when the host starts. */
  readonly holders?: ReadonlyMap<string, string>;
}

/** Owns every module. Watches the folder of descriptors and applies its changes. */
export class ModuleRegistry implements GenerationSource, WaitingSource, MountSource {
  readonly #log: Log;
  readonly #modulesDir: string;
  readonly #linkFolder: string | null;
  readonly #publicHost: string | null;
  readonly #context: SlotContext;
  readonly #scanner: DirectoryScanner;
  readonly #watcher: Watcher;
  readonly #lostVersions: LostVersions;
  readonly #publisher: ChangePublisher;
  readonly #statusSink: StatusSink | null;
  readonly #changes = new ChangeSignal((error) =>
    this.#log.error({ err: error }, 'listener of module changes failed'),
  );
  readonly #slots = new Map<string, ModuleSlot>();
  #holders: ReadonlyMap<string, string>;
  /** The slots with a name that another file had in the last scan. */
  #displaced: ReadonlySet<ModuleSlot> = new Set();
  /** Replaced as a whole at each change. */
  current: Generation = new Map();
  /** Replaced as a whole at each change. */
  mounts = NO_MOUNTS;
  /** No request is served before the start ends, so only the last generation of the start is built. */
  #isStarting = true;
  #ignored: DirectoryListing['ignored'] = [];
  #reloads = { success: 0, failure: 0, lastAt: new Date() };
  #isDirectoryLost = false;

  constructor(options: ModuleRegistryOptions) {
    const { modulesDir, log, statusSink, sharedProbation, publicOrigin } = options;
    this.#publicHost = publicOrigin && normalizeHost(new URL(publicOrigin).host);
    this.#log = log;
    this.#modulesDir = modulesDir;
    this.#linkFolder = options.linkFolder ?? null;
    this.#statusSink = statusSink;
    this.#holders = options.holders ?? new Map();
    this.#scanner = new DirectoryScanner(modulesDir);
    this.#watcher = new Watcher({
      check: (isPoll) => this.#check(isPoll),
      onError: (error) => log.error({ err: error }, 'module scan failed'),
    });
    this.#lostVersions = new LostVersions({
      ...options,
      writeAgain: () => {
        for (const slot of this.#slots.values()) slot.keepAgain();
      },
    });
    const publishGeneration = () => this.#publishGeneration();
    this.#publisher = new ChangePublisher({
      log,
      statusSink,
      publishGeneration,
      onChanged: this.#changes.notify,
    });
    this.#context = {
      ...options,
      pathOf: (file) => join(modulesDir, file),
      isNameFree: (name, file) => this.#isNameFree(name, file),
      onLiveChange: (retired) => this.#publisher.replace(retired),
      onRecordChange: (record, changed) => this.#publisher.reportRecord(record, changed),
    };
    sharedProbation?.onRejected(({ file, digest, reason }) => {
      const slot = this.#slots.get(file);
      // Never rejects.
      if (slot) void isolate(log, file, () => slot.rejectVersion(digest, reason));
    });
  }

  get ignored(): DirectoryListing['ignored'] {
    const used = [...this.#slots.values()].flatMap(({ source }) => source.files);
    return omitUsedFiles(this.#ignored, this.#modulesDir, used);
  }

  /** How many descriptor changes were applied and rejected, including those of the start. */
  get reloads(): { readonly success: number; readonly failure: number; readonly lastAt: Date } {
    return this.#reloads;
  }

  /** One record per descriptor, by name, those without a name first. Never newer than what is served. */
  list(): readonly ModuleRecord[] {
    return (
      this.#publisher.withheldRecords ??
      [...this.#slots.values()].map((slot) => slot.record).sort(compareRecords)
    );
  }

  findWaiting(name: string): WaitingModule | null {
    for (const { record } of this.#slots.values()) {
      const isWaiting = record.state === 'waiting' && record.live === null;
      if (isWaiting && record.name === name) return record.descriptor;
    }
    return null;
  }

  /**
   * Reads everything once, then watches the folder.
   * @throws UnreadableDirectory when the folder of descriptors cannot be read.
   */
  async start(): Promise<void> {
    const result = await this.#scanner.scan(false);
    const files = new Set(result.changed.map(({ file }) => file));
    await this.#context.lastGood.keepOnly(files);
    await this.#applyScan(result);
    this.#isStarting = false;
    this.#publishGeneration();
    this.#holders = new Map();
    const firstAttempts = [...this.#slots.values()].map((slot) => slot.firstAttempt);
    await Promise.race([
      Promise.all(firstAttempts),
      pause(START_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    this.#statusSink?.keepOnly(files);
    this.#followFolders();
    this.#watcher.start();
  }

  /** Calls the listener soon after a module has changed. @returns removes the listener. */
  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  /** Reads every file again, changed or not (SIGHUP). */
  rescan(): void {
    this.#log.info({}, 'modules folder rescanned');
    this.#scanner.forget();
    this.#watcher.pollSoon();
  }

  /** Closes every provider; calls in flight are canceled. */
  async close(): Promise<void> {
    await this.#watcher.close();
    this.current = new Map();
    await Promise.all([...this.#slots.values()].map((slot) => slot.close()));
    await this.#context.lastGood.flush();
    await this.#statusSink?.flush();
  }

  async #check(isPoll: boolean): Promise<number | null> {
    if (isPoll) await this.#lostVersions.check();
    try {
      const result = await this.#scanner.scan(this.#linkFolder === null);
      this.#reportDirectory(null);
      await this.#applyScan(result);
      return result.againAfterMs;
    } catch (error) {
      // A missing folder is not an empty folder: the last loaded modules continue to serve.
      if (!(error instanceof UnreadableDirectory)) throw error;
      this.#reportDirectory(error);
      return null;
    }
  }

  async #applyScan({ changed, removed, renamed, unsettled, ignored }: ScanResult): Promise<void> {
    this.#replaceIgnored(ignored);
    for (const file of unsettled) {
      this.#log.warn({ file }, 'descriptor keeps changing; keeping the last good content');
    }
    if (changed.length === 0 && removed.length === 0 && renamed.length === 0) return;
    for (const { from, to } of renamed) this.#rename(from, to);
    const read = await mapConcurrently(changed, MODULES_AT_ONCE, async (entry) => {
      const slot = this.#slots.get(entry.file) ?? new ModuleSlot(entry.file, this.#context);
      this.#slots.set(entry.file, slot);
      await isolate(this.#log, entry.file, async () => {
        await slot.read(entry);
        await this.#scanner.follow(entry.file, slot.source.files);
      });
      return slot;
    });
    await this.#settle(read, removed);
    this.#countReloads(read, removed.length + renamed.length);
    this.#followFolders();
  }

  #replaceIgnored(ignored: DirectoryListing['ignored']): void {
    if (isDeepStrictEqual(ignored, this.#ignored)) return;
    this.#ignored = ignored;
    this.#changes.notify();
  }

  /** The folder of descriptors, and those of the files that descriptors name. */
  #followFolders(): void {
    const namedFiles = [...this.#slots.values()].flatMap(({ source }) => source.files);
    this.#watcher.follow([
      this.#modulesDir,
      ...(this.#linkFolder === null ? [] : [this.#linkFolder]),
      ...namedFiles.map((file) => dirname(file)),
    ]);
  }

  /** Applies changed and removed files, and files that waited for one of their names. */
  async #settle(changed: readonly ModuleSlot[], removedFiles: readonly string[]): Promise<void> {
    const records = this.list();
    const removed = this.#takeRemoved(removedFiles);
    const { named, displaced } = settleNames([...this.#slots.values()], this.#holders);
    const affected = new Set(changed);
    const toApply = named.filter((slot) => affected.has(slot) || this.#displaced.has(slot));
    this.#displaced = new Set(displaced.keys());
    if (hasMovingName(toApply, removed)) this.#publisher.withhold(records);
    for (const slot of removed) slot.remove();
    await this.#forEach(toApply, (slot) => slot.apply());
    this.#publisher.release();
    for (const slot of removed) this.#publisher.reportRemoval(slot.record);
    for (const [slot, conflict] of displaced) {
      await isolate(this.#log, slot.file, () => slot.apply(conflict));
    }
    // Last, because a last good version must not use a name that a valid file has now.
    const applied = new Set(toApply);
    const rest = changed.filter((slot) => !applied.has(slot) && !displaced.has(slot));
    await this.#forEach(rest, (slot) => slot.apply());
    this.#publishMounts();
  }

  async #forEach(
    slots: readonly ModuleSlot[],
    work: (slot: ModuleSlot) => Promise<void>,
  ): Promise<void> {
    await mapConcurrently(slots, MODULES_AT_ONCE, (slot) =>
      isolate(this.#log, slot.file, () => work(slot)),
    );
  }

  #rename(from: string, to: string): void {
    const slot = this.#slots.get(from);
    if (slot === undefined) return;
    this.#slots.delete(from);
    this.#slots.set(to, slot);
    slot.rename(to);
    this.#publisher.reportRename(from, slot.record);
  }

  #takeRemoved(files: readonly string[]): ModuleSlot[] {
    return files.flatMap((file) => {
      const slot = this.#slots.get(file);
      this.#slots.delete(file);
      return slot ?? [];
    });
  }

  #isNameFree(name: string, file: string): boolean {
    for (const slot of this.#slots.values()) {
      if (slot.file === file) continue;
      if (slot.live?.name === name || slot.source.wantedName === name) return false;
    }
    return true;
  }

  #publishGeneration(): void {
    if (this.#isStarting) return;
    const live = [...this.#slots.values()].flatMap((slot) => slot.live ?? []);
    this.current = new Map(live.map((module) => [module.name, module]));
    this.#publishMounts();
    this.#changes.notify();
  }

  /** Files that serve nothing count too: no other module may answer there. */
  #publishMounts(): void {
    const records = [...this.#slots.values()].map(({ record }) => record);
    const reserved = this.#context.reservedPrefixes?.current ?? new Set();
    this.mounts = createMountTable(records, { publicHost: this.#publicHost, reserved });
  }

  #countReloads(read: readonly ModuleSlot[], others: number): void {
    const states = read.map(({ record }) => record.state);
    const failure = states.filter((state) => REJECTED_STATES.has(state)).length;
    const success = states.length - failure + others;
    const { reloads } = this;
    this.#reloads = {
      success: reloads.success + success,
      failure: reloads.failure + failure,
      lastAt: new Date(),
    };
  }

  #reportDirectory(error: UnreadableDirectory | null): void {
    const isLost = error !== null;
    if (isLost === this.#isDirectoryLost) return;
    this.#isDirectoryLost = isLost;
    if (isLost) {
      this.#log.error(
        { reason: error.message },
        'modules folder unavailable; serving the last loaded modules',
      );
    } else this.#log.info({}, 'modules folder available again');
  }
}

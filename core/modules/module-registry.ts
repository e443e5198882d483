import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ACTOR_KINDS, type Log } from '../contract/index.js';
import { normalizeHost } from '../descriptor/sections/mount.js';
import { isolate } from '../isolation/isolate.js';
import { mapConcurrently } from '../lib/promises.js';
import { createTurns } from '../lib/slices.js';
import { type DirectoryListing, omitUsedFiles, UnreadableDirectory } from '../watch/directory.js';
import { DirectoryScanner, type ScanResult } from '../watch/directory-scanner.js';
import { Watcher } from '../watch/watcher.js';
import { ChangePublisher, ChangeSignal } from './change-publisher.js';
import { LostVersions } from './last-good.js';
import {
  type Generation,
  type GenerationSource,
  type LiveModule,
  NO_MANIFEST,
  type WaitingModule,
  type WaitingSource,
} from './live-module.js';
import { compareRecords, type ModuleRecord, REJECTED_STATES } from './module-record.js';
import { ModuleSlot, type SlotContext } from './module-slot.js';
import { createMountTable, type MountSource, type MountTable, NO_MOUNTS } from './mount-table.js';
import { hasMovingName, listClaimants, settleNames } from './settle-names.js';
import type { StatusSink } from './status-files.js';

/** How long a start waits for manifests from providers; after that the modules are `waiting`. */
const START_TIMEOUT_MS = 2000;
const MODULES_AT_ONCE = 16;
const BUSY = 'descriptor cannot be read at the moment; reading it again';

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
  /** Whether there may be a release of which the link has no files. Absent without releases. */
  readonly lacksRelease?: () => boolean;
  /** The origin of the public URL; `null` if none is configured. */
  readonly publicOrigin: string | null;
  /** The file that already serves in another process, by name and mount, when the host starts. */
  readonly holders?: ReadonlyMap<string, string>;
}

const NO_RELEASE = 'the host has no release';

/** Owns every module. Watches the folder of descriptors and applies its changes. */
export class ModuleRegistry implements GenerationSource, WaitingSource, MountSource {
  readonly #log: Log;
  readonly #modulesDir: string;
  readonly #linkFolder: string | null;
  readonly #publicHost: string | null;
  readonly #context: SlotContext & Pick<ModuleRegistryOptions, 'lacksRelease'>;
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
  /** `null` after a change, until it is read. */
  #generation: Generation | null = new Map();
  /** `null` after a change, until it is read. */
  #mounts: MountTable | null = NO_MOUNTS;
  /** No request is served before the start ends, so only the last generation of the start is built. */
  #isStarting = true;
  /** Thousands of files may change at once. */
  readonly #takeTurn = createTurns();
  #ignored: DirectoryListing['ignored'] = [];
  #reloads = { success: 0, failure: 0, lastAt: new Date() };
  #isDirectoryLost = false;
  /** Until the files of the first release are applied. */
  #lacksRelease = false;

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

  /** Immutable. Built when it is read: thousands of modules may change in a row. */
  get current(): Generation {
    this.#generation ??= this.#createGeneration();
    return this.#generation;
  }

  /** Files that serve nothing count too: no other module may answer there. */
  get mounts(): MountTable {
    this.#mounts ??= this.#createMounts();
    return this.#mounts;
  }

  get ignored(): DirectoryListing['ignored'] {
    return omitUsedFiles(this.#ignored, this.#modulesDir, this.#listNamedFiles());
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

  /** Whether the host follows releases, and has applied none although there may be one. */
  get lacksRelease(): boolean {
    return this.#lacksRelease || this.#context.lacksRelease?.() === true;
  }

  /** Without a release, any module. */
  findWaiting(name: string): WaitingModule | null {
    if (this.lacksRelease) return { module: name, callers: ACTOR_KINDS, reason: NO_RELEASE };
    for (const { waiting } of this.#slots.values()) {
      if (waiting?.name !== name) continue;
      return waiting.descriptor && { ...waiting.descriptor, reason: NO_MANIFEST };
    }
    return null;
  }

  /**
   * Reads everything once, then watches the folder.
   * @throws UnreadableDirectory when the folder of descriptors cannot be read.
   */
  async start(): Promise<void> {
    const lacksRelease = this.#context.lacksRelease?.() === true;
    const result = await this.#scanner.scan(false);
    const files = new Set(result.changed.map(({ file }) => file));
    await this.#context.lastGood.keepOnly(files);
    await this.#applyScan(result);
    this.#lacksRelease = lacksRelease;
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
    this.#generation = new Map();
    await Promise.all([...this.#slots.values()].map((slot) => slot.close()));
    await this.#context.lastGood.flush();
    await this.#statusSink?.flush();
  }

  async #check(isPoll: boolean): Promise<number | null> {
    if (isPoll) await this.#lostVersions.check();
    const lacksRelease = this.#context.lacksRelease?.() === true;
    try {
      const result = await this.#scanner.scan(this.#linkFolder === null);
      this.#reportDirectory(null);
      await this.#applyScan(result);
      this.#lacksRelease &&= lacksRelease;
      return result.againAfterMs;
    } catch (error) {
      // A missing folder is not an empty folder: the last loaded modules continue to serve.
      if (!(error instanceof UnreadableDirectory)) throw error;
      this.#reportDirectory(error);
      return null;
    }
  }

  async #applyScan(result: ScanResult): Promise<void> {
    const { changed, removed, renamed, unsettled, busy, ignored } = result;
    this.#replaceIgnored(ignored);
    for (const file of busy) this.#log.warn({ file }, BUSY);
    for (const file of unsettled) {
      this.#log.warn({ file }, 'descriptor keeps changing; keeping the last good content');
    }
    if (changed.length === 0 && removed.length === 0 && renamed.length === 0) return;
    for (const { from, to } of renamed) this.#rename(from, to);
    const read = await mapConcurrently(changed, MODULES_AT_ONCE, async (entry) => {
      const slot = this.#slots.get(entry.file) ?? new ModuleSlot(entry.file, this.#context);
      this.#slots.set(entry.file, slot);
      await this.#takeTurn();
      await isolate(this.#log, entry.file, async () => {
        await slot.read(entry);
        await this.#scanner.follow(entry.file, slot.source.files);
      });
      return slot;
    });
    await this.#settle(read, removed);
    for (const { file, hasPassingFailure } of read) {
      if (!hasPassingFailure) continue;
      this.#scanner.forget(file);
      this.#log.warn({ file }, BUSY);
    }
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
    const folders = new Set([this.#modulesDir]);
    if (this.#linkFolder !== null) folders.add(this.#linkFolder);
    for (const file of this.#listNamedFiles()) folders.add(dirname(file));
    this.#watcher.follow(folders);
  }

  *#listNamedFiles(): Generator<string> {
    for (const { source } of this.#slots.values()) yield* source.files;
  }

  /** Applies changed and removed files, and files that waited for one of their names. */
  async #settle(changed: readonly ModuleSlot[], removedFiles: readonly string[]): Promise<void> {
    const removed = new Set(removedFiles.flatMap((file) => this.#slots.get(file) ?? []));
    const slots = [...this.#slots.values()].filter((slot) => !removed.has(slot));
    const { named, displaced } = settleNames(await listClaimants(slots), this.#holders);
    const affected = new Set(changed);
    const toApply = named.filter((slot) => affected.has(slot) || this.#displaced.has(slot));
    this.#displaced = new Set(displaced.keys());
    if (hasMovingName(toApply, [...removed])) {
      // Neither is built before the name has moved.
      this.#generation = this.current;
      this.#mounts = this.mounts;
      this.#publisher.withhold(this.list());
    }
    for (const file of removedFiles) this.#slots.delete(file);
    for (const slot of removed) {
      await this.#takeTurn();
      slot.remove();
    }
    await this.#forEach(toApply, (slot) => slot.apply());
    this.#publisher.release();
    for (const slot of removed) {
      await this.#takeTurn();
      this.#publisher.reportRemoval(slot.record);
    }
    for (const [slot, conflict] of displaced) {
      await isolate(this.#log, slot.file, () => slot.apply(conflict));
    }
    // Last, because a last good version must not use a name that a valid file has now.
    const applied = new Set(toApply);
    const rest = changed.filter((slot) => !applied.has(slot) && !displaced.has(slot));
    await this.#forEach(rest, (slot) => slot.apply());
    this.#mounts = null;
  }

  async #forEach(
    slots: readonly ModuleSlot[],
    work: (slot: ModuleSlot) => Promise<void>,
  ): Promise<void> {
    await mapConcurrently(slots, MODULES_AT_ONCE, async (slot) => {
      await this.#takeTurn();
      await isolate(this.#log, slot.file, () => work(slot));
    });
  }

  #rename(from: string, to: string): void {
    const slot = this.#slots.get(from);
    if (slot === undefined) return;
    this.#slots.delete(from);
    this.#slots.set(to, slot);
    slot.rename(to);
    this.#publisher.reportRename(from, slot.record);
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
    this.#generation = null;
    this.#mounts = null;
    this.#changes.notify();
  }

  #createGeneration(): Generation {
    const generation = new Map<string, LiveModule>();
    for (const { live } of this.#slots.values()) if (live !== null) generation.set(live.name, live);
    return generation;
  }

  #createMounts(): MountTable {
    const slots = [...this.#slots.values()];
    if (slots.every(({ mounts }) => mounts.length === 0)) return NO_MOUNTS;
    const reserved = this.#context.reservedPrefixes?.current ?? new Set();
    const options = { publicHost: this.#publicHost, reserved };
    return createMountTable(
      slots.map(({ record }) => record),
      options,
    );
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

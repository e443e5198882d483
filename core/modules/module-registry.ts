import { readlink } from 'node:fs/promises';
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
import { ChangePublisher, ChangeSignal, type FrozenSlot } from './change-publisher.js';
import { createGeneration, createMounts } from './create-generation.js';
import { createDirectoryReport } from './directory-report.js';
import { LostVersions } from './last-good.js';
import {
  type Generation,
  type GenerationSource,
  MANIFEST_PENDING,
  type WaitingModule,
  type WaitingSource,
} from './live-module.js';
import { compareRecords, type ModuleRecord, REJECTED_STATES } from './module-record.js';
import { ModuleSlot } from './module-slot.js';
import { type MountSource, type MountTable, NO_MOUNTS } from './mount-table.js';
import type { ModuleRegistryOptions, RegistryContext } from './registry-options.js';
import { ReloadCounts } from './reload-counts.js';
import {
  findBadSuccessor,
  isNameFree,
  keepsClaims,
  listClaimants,
  listExchanging,
  listWanted,
  settleNames,
} from './settle-names.js';
import { SlotOpenings } from './slot-openings.js';
import type { StatusSink } from './status-files.js';

/** How long a start waits for manifests from providers; after that the modules are `waiting`. */
const START_TIMEOUT_MS = 2000;
const MODULES_AT_ONCE = 16;
const BUSY = 'descriptor cannot be read at the moment; reading it again';

export const NO_RELEASE = 'the host has no release';

/** Owns every module. Watches the folder of descriptors and applies its changes. */
export class ModuleRegistry implements GenerationSource, WaitingSource, MountSource {
  readonly #log: Log;
  readonly #modulesDir: string;
  readonly #linkFolder: string | null;
  readonly #publicHost: string | null;
  readonly #context: RegistryContext;
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
  readonly #reloads = new ReloadCounts();
  readonly #reportDirectory: (error: UnreadableDirectory | null) => void;
  /** Until the files of the first release are applied. */
  #lacksRelease = false;
  /** Resolves when names and mounts have moved. Never rejects. */
  #exchange: Promise<void> = Promise.resolve();
  #appliedFolder: string | null = null;
  readonly #openings: SlotOpenings;

  constructor(options: ModuleRegistryOptions) {
    const { modulesDir, log, statusSink, sharedProbation, publicOrigin } = options;
    this.#publicHost = publicOrigin && normalizeHost(new URL(publicOrigin).host);
    this.#log = log;
    this.#modulesDir = modulesDir;
    this.#linkFolder = options.linkFolder ?? null;
    this.#statusSink = statusSink;
    this.#holders = options.holders ?? new Map();
    this.#scanner = new DirectoryScanner(modulesDir);
    this.#reportDirectory = createDirectoryReport(log);
    this.#openings = new SlotOpenings({ log, onApplied: (slot) => this.#noteApplied(slot) });
    this.#watcher = new Watcher({
      check: (isPoll, endSearch) => this.#check(isPoll, endSearch),
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
      isNameFree: (name, file) => isNameFree([...this.#slots.values()], name, file),
      onLiveChange: (file, retired) => this.#publisher.replace(file, retired),
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
    this.#generation ??= createGeneration(this.#listServed());
    return this.#generation;
  }

  /** Files that serve nothing count too: no other module may answer there. */
  get mounts(): MountTable {
    const reserved = this.#context.reservedPrefixes?.current ?? new Set();
    const publicHost = this.#publicHost;
    this.#mounts ??= createMounts(this.#listServed(), { publicHost, reserved });
    return this.#mounts;
  }

  get ignored(): DirectoryListing['ignored'] {
    return omitUsedFiles(this.#ignored, this.#modulesDir, this.#listNamedFiles());
  }

  /** The target of the link when the last scan began of which everything is applied. */
  get appliedFolder(): string | null {
    return this.#appliedFolder;
  }

  /** How many descriptor changes were applied and rejected, including those of the start. */
  get reloads(): Pick<ReloadCounts, 'success' | 'failure' | 'lastAt'> {
    return this.#reloads;
  }

  /** One record per descriptor, by name, those without a name first. Never newer than what is served. */
  list(): readonly ModuleRecord[] {
    return this.#listServed()
      .map(({ record }) => record)
      .sort(compareRecords);
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
      return waiting.descriptor && { ...waiting.descriptor, reason: MANIFEST_PENDING };
    }
    return null;
  }

  /**
   * Reads everything once, then watches the folder.
   * @throws UnreadableDirectory when the folder cannot be read, and no other process serves modules.
   */
  async start(): Promise<void> {
    const loaded = this.#load();
    // A file is read, written and renamed in ten steps, for which the modules would wait.
    this.#context.lastGood.defer?.(loaded);
    this.#statusSink?.defer?.(loaded);
    const files = await loaded;
    this.#statusSink?.keepOnly(files);
    this.#followFolders();
    this.#watcher.start();
  }

  /** @returns the files of the start */
  async #load(): Promise<ReadonlySet<string>> {
    const lacksRelease = this.#context.lacksRelease?.() === true;
    const folder = await this.#readLink();
    // Without the folder, a replaced worker serves the last good versions of what the others serve.
    const known = [...new Set(this.#holders.values())].sort();
    const result = await this.#scanner.scan(false, known);
    const files = new Set(result.changed.map(({ file }) => file));
    await this.#context.lastGood.keepOnly(files);
    await this.#applyScan(result);
    await this.#waitForAll();
    this.#appliedFolder = folder;
    this.#lacksRelease = lacksRelease;
    this.#isStarting = false;
    this.#publishGeneration();
    this.#holders = new Map();
    const firstAttempts = [...this.#slots.values()].map((slot) => slot.firstAttempt);
    await Promise.race([
      Promise.all(firstAttempts),
      pause(START_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    return files;
  }

  /** Calls the listener soon after a module has changed. @returns removes the listener. */
  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  /** Reads every file again, changed or not, and requests manifests anew (SIGHUP). */
  rescan(): void {
    this.#log.info({}, 'modules folder rescanned');
    for (const slot of this.#slots.values()) slot.askAgain();
    this.#scanner.forget();
    this.#watcher.pollSoon();
  }

  /** Closes every provider; calls in flight are canceled. */
  async close(): Promise<void> {
    await this.#watcher.close();
    await this.#waitForAll();
    this.#generation = new Map();
    await Promise.all([...this.#slots.values()].map((slot) => slot.close()));
    await this.#context.lastGood.flush();
    await this.#statusSink?.flush();
  }

  async #check(isPoll: boolean, endSearch: () => void): Promise<number | null> {
    if (isPoll) await this.#lostVersions.check();
    const lacksRelease = this.#context.lacksRelease?.() === true;
    try {
      const folder = await this.#readLink();
      const result = await this.#scanner.scan(this.#linkFolder === null);
      endSearch();
      this.#reportDirectory(null);
      await this.#applyScan(result);
      // Not awaited: the next scan need not wait until modules are opened. Never rejects.
      void this.#waitForAll().then(() => {
        this.#lacksRelease &&= lacksRelease;
        this.#appliedFolder = folder;
      });
      return result.againAfterMs;
    } catch (error) {
      // A missing folder is not an empty folder: the last loaded modules continue to serve.
      if (!(error instanceof UnreadableDirectory)) throw error;
      this.#reportDirectory(error);
      return null;
    }
  }

  async #applyScan(result: ScanResult): Promise<void> {
    const { changed, removed, arrived, renamed, unsettled, busy, ignored } = result;
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
      const before = String(listWanted(slot));
      await isolate(this.#log, entry.file, async () => {
        await slot.read(entry);
        await this.#scanner.follow(entry.file, slot.source.files);
      });
      // It may still be opened under a name that it no longer wants.
      if (String(listWanted(slot)) !== before) await this.#openings.find(slot);
      if (this.#isStarting || !keepsClaims(slot)) return slot;
      void this.#openings.start([slot]);
      return [];
    });
    const gone = removed.filter((file) => !this.#moveToBadFile(file, arrived));
    // A slot of this name may have taken the place of another one.
    const slots = read.flat().filter((slot) => this.#slots.get(slot.file) === slot);
    await this.#settle(slots, gone);
    this.#reloads.add(removed.length + renamed.length, 0);
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
    const isApplying = (slot: ModuleSlot) => this.#openings.find(slot) !== undefined;
    const claimants = await listClaimants(slots, isApplying);
    const { named, displaced } = settleNames(claimants, this.#holders);
    const affected = new Set(changed);
    const toApply = named.filter((slot) => affected.has(slot) || this.#displaced.has(slot));
    this.#displaced = new Set(displaced.keys());
    const exchanging = listExchanging(toApply, [...removed]);
    if (exchanging.size > 0) {
      await this.#exchange;
      this.#publisher.withhold(exchanging);
    }
    for (const file of removedFiles) this.#slots.delete(file);
    for (const slot of removed) {
      await this.#takeTurn();
      slot.remove();
      if (!exchanging.has(slot)) this.#publisher.reportRemoval(slot.record);
    }
    void this.#openings.start(toApply.filter((slot) => !exchanging.has(slot)));
    for (const [slot, conflict] of displaced) void this.#openings.start([slot], conflict);
    const applied = new Set(toApply);
    void this.#openings.start(changed.filter((slot) => !applied.has(slot) && !displaced.has(slot)));
    this.#mounts = null;
    if (exchanging.size === 0) return;
    const work = this.#openings.start(toApply.filter((slot) => exchanging.has(slot)));
    this.#exchange = work.then(() => {
      this.#publisher.release();
      for (const slot of removed) {
        if (exchanging.has(slot)) this.#publisher.reportRemoval(slot.record);
      }
    });
  }

  /** Resolves when all that has begun is published. Never rejects. */
  async #waitForAll(): Promise<void> {
    await Promise.all([this.#openings.waitForAll(), this.#exchange]);
  }

  /** Called when the content of a slot serves, or was rejected. */
  #noteApplied({ file, hasTransientError, record }: ModuleSlot): void {
    this.#mounts = null;
    const isRejected = REJECTED_STATES.has(record.state);
    this.#reloads.add(isRejected ? 0 : 1, isRejected ? 1 : 0);
    if (!hasTransientError) return;
    this.#scanner.forget(file);
    this.#log.warn({ file }, BUSY);
  }

  #listServed(): FrozenSlot[] {
    return this.#publisher.listServed([...this.#slots.values()]);
  }

  /** The target of the link to the folder; `null` for a folder that people write to. */
  async #readLink(): Promise<string | null> {
    if (this.#linkFolder === null) return null;
    return readlink(this.#modulesDir).catch(() => null);
  }

  #rename(from: string, to: string): void {
    const slot = this.#slots.get(from);
    if (slot === undefined) return;
    this.#slots.delete(from);
    this.#slots.set(to, slot);
    slot.rename(to);
    this.#publisher.reportRename(from, slot.record);
  }

  /**
   * A removed file and a bad one of its module that came with the removal count as a rename: the last
   * good version serves.
   */
  #moveToBadFile(file: string, arrived: ReadonlySet<string>): boolean {
    const slot = this.#slots.get(file);
    const successor = slot && findBadSuccessor([...this.#slots.values()], slot, arrived);
    if (!successor) return false;
    void successor.close();
    this.#rename(file, successor.file);
    this.#scanner.forget(successor.file);
    this.#watcher.pollSoon();
    return true;
  }

  #publishGeneration(): void {
    if (this.#isStarting) return;
    this.#generation = null;
    this.#mounts = null;
    this.#changes.notify();
  }
}

import { join } from 'node:path';
import type { Log } from '../contract/index.js';
import { mapConcurrently } from '../lib/promises.js';
import { type DirectoryListing, UnreadableDirectory } from '../watch/directory.js';
import { DirectoryScanner, type ScanResult } from '../watch/directory-scanner.js';
import { DirectoryWatcher, type Look } from '../watch/directory-watcher.js';
import type { Generation, GenerationSource, LiveModule } from './live-module.js';
import type { ModuleRecord } from './module-record.js';
import { ModuleSlot, type SlotContext } from './module-slot.js';
import type { ModuleVersion } from './module-version.js';
import { describeFileStatus, type StatusSink } from './status-files.js';

/** How long a start waits for providers that are to give their manifest: who is slower is `waiting`. */
const START_TIMEOUT_MS = 2000;
const MODULES_AT_ONCE = 16;
/** How long calls in flight on a version that has been replaced may take before they are cut. */
const RETIRE_MS = 10_000;

/** While a name goes from one file to another: the next generation, and all that tells of it, waits. */
interface HeldGeneration {
  /** What is told meanwhile: it is what serves. */
  readonly records: readonly ModuleRecord[];
  readonly retired: ModuleVersion[];
  readonly reports: { readonly record: ModuleRecord; readonly changed: readonly string[] }[];
}

export interface ModuleRegistryOptions
  extends Pick<
    SlotContext,
    | 'plugins'
    | 'environment'
    | 'log'
    | 'stateDir'
    | 'pressure'
    | 'identity'
    | 'store'
    | 'lastGood'
    | 'leadership'
    | 'sharedProbation'
  > {
  /** The folder of descriptors. */
  readonly modulesDir: string;
  /** Told what becomes of each descriptor. */
  readonly statusSink: StatusSink | null;
  /** At start, the file that has a name that two ask for: the one that serves elsewhere already. */
  readonly holders?: ReadonlyMap<string, string>;
}

/**
 * Owns every module. Follows the folder of descriptors: any hint, and a poll, makes it look at what is
 * there, and what changed is applied, one module at a time as far as the others can tell.
 */
export class ModuleRegistry implements GenerationSource {
  readonly #log: Log;
  readonly #context: SlotContext;
  readonly #scanner: DirectoryScanner;
  readonly #watcher: DirectoryWatcher;
  readonly #slots = new Map<string, ModuleSlot>();
  readonly #statusSink: StatusSink | null;
  #holders: ReadonlyMap<string, string>;
  #generation: Generation = new Map();
  #ignored: DirectoryListing['ignored'] = [];
  #reloads = { success: 0, failure: 0, lastAt: new Date() };
  #isDirectoryLost = false;
  /** Nothing is served yet: of ten thousand generations of the start, only the last one counts. */
  #isStarting = true;
  #held: HeldGeneration | null = null;

  constructor(options: ModuleRegistryOptions) {
    const { modulesDir, log, sharedProbation } = options;
    this.#log = log;
    this.#statusSink = options.statusSink;
    this.#holders = options.holders ?? new Map();
    this.#scanner = new DirectoryScanner(modulesDir);
    this.#watcher = new DirectoryWatcher(modulesDir, (...where) => this.#look(...where));
    this.#context = {
      ...options,
      pathOf: (file) => join(modulesDir, file),
      isFree: (name, slot) => this.#isFree(name, slot),
      onLiveChange: (retired) => this.#replace(retired),
      onRecordChange: (record, changed) => this.#reportRecord(record, changed),
    };
    sharedProbation?.onRejected(({ file, digest, reason }) => {
      // It catches what a version that cannot be opened throws.
      void this.#slots.get(file)?.rejectVersion(digest, reason);
    });
  }

  get current(): Generation {
    return this.#generation;
  }

  get ignored(): DirectoryListing['ignored'] {
    return this.#ignored;
  }

  /** How many changes of descriptors were applied and refused, those of the start among them. */
  get reloads(): { readonly success: number; readonly failure: number; readonly lastAt: Date } {
    return this.#reloads;
  }

  /** One record a descriptor, by name; those without a name first. Never ahead of what serves. */
  list(): readonly ModuleRecord[] {
    if (this.#held !== null) return this.#held.records;
    return [...this.#slots.values()]
      .map((slot) => slot.record)
      .sort((a, b) => compare(a.name ?? '', b.name ?? '') || compare(a.file, b.file));
  }

  /**
   * Reads everything once, then follows the folder.
   * @throws UnreadableDirectory when the folder of descriptors cannot be read.
   */
  async start(): Promise<void> {
    const result = await this.#scanner.scan(false);
    const files = new Set(result.changed.map(({ file }) => file));
    await this.#context.lastGood.keepOnly(files);
    await this.#applyScan(result);
    this.#isStarting = false;
    this.#publish();
    this.#holders = new Map();
    const firstTries = [...this.#slots.values()].map((slot) => slot.firstTry);
    await Promise.race([Promise.all(firstTries), delay(START_TIMEOUT_MS)]);
    this.#statusSink?.keepOnly(files);
    this.#watcher.start();
  }

  /** Reads every file again, changed or not (SIGHUP). */
  rescan(): void {
    this.#log.info({}, 'rescan');
    this.#scanner.forget();
    this.#watcher.hint();
  }

  /** Closes every provider; calls in flight are cut. */
  async close(): Promise<void> {
    await this.#watcher.close();
    this.#generation = new Map();
    await Promise.all([...this.#slots.values()].map((slot) => slot.close()));
    await this.#context.lastGood.flush();
    await this.#statusSink?.flush();
  }

  /** One look at the folder; answers when to look again. */
  async #look(...where: Parameters<Look>): Promise<number | null> {
    try {
      const result = await this.#scanner.scan(true, ...where);
      this.#reportDirectory(null);
      await this.#applyScan(result);
      return result.againAfterMs;
    } catch (error) {
      // A folder that has vanished is not an empty folder: everything goes on as it was.
      if (!(error instanceof UnreadableDirectory)) throw error;
      this.#reportDirectory(error);
      return null;
    }
  }

  async #applyScan({ changed, removed, renamed, ignored }: ScanResult): Promise<void> {
    this.#ignored = ignored;
    if (changed.length === 0 && removed.length === 0 && renamed.length === 0) return;
    for (const { from, to } of renamed) this.#rename(from, to);
    const read = await mapConcurrently(changed, MODULES_AT_ONCE, async (entry) => {
      const slot = this.#slots.get(entry.file) ?? new ModuleSlot(entry.file, this.#context);
      this.#slots.set(entry.file, slot);
      await slot.read(entry);
      await this.#scanner.follow(entry.file, slot.namedFiles);
      return slot;
    });
    await this.#settle(read, removed);
    this.#countReloads(read, removed.length + renamed.length);
    this.#watcher.follow([...this.#slots.values()].flatMap(({ namedFiles }) => namedFiles));
  }

  #countReloads(read: readonly ModuleSlot[], others: number): void {
    const states = read.map(({ record }) => record.state);
    const failure = states.filter((state) => state === 'refused' || state === 'stale').length;
    const success = states.length - failure + others;
    const { reloads } = this;
    this.#reloads = {
      success: reloads.success + success,
      failure: reloads.failure + failure,
      lastAt: new Date(),
    };
  }

  /** Those that changed, those that went, and those that had lost their name to one of them. */
  async #settle(changed: readonly ModuleSlot[], removed: readonly string[]): Promise<void> {
    const records = this.list();
    const gone = this.#takeRemoved(removed);
    const { winners, losers } = settleNames([...this.#slots.values()], this.#holders);
    const affected = new Set(changed);
    for (const slot of winners) if (slot.hasYielded) affected.add(slot);
    const won = new Set(winners.filter((slot) => affected.has(slot)));
    if (hasMovingName([...won], gone)) this.#held = { records, retired: [], reports: [] };
    for (const slot of gone) slot.remove();
    await mapConcurrently([...won], MODULES_AT_ONCE, (slot) => slot.apply());
    this.#releaseHeld();
    for (const slot of gone) this.#reportRemoval(slot);
    await mapConcurrently([...losers], 1, ([slot, winner]) => slot.loseNameTo(winner));
    // Last, since what was good before must not take a name that a good file has now.
    const rest = changed.filter((slot) => !won.has(slot) && !losers.has(slot));
    await mapConcurrently(rest, MODULES_AT_ONCE, (slot) => slot.apply());
  }

  #rename(from: string, to: string): void {
    const slot = this.#slots.get(from);
    if (slot === undefined) return;
    this.#slots.delete(from);
    this.#slots.set(to, slot);
    slot.rename(to);
    const { name: module, state } = slot.record;
    this.#log.info({ module, file: to, state, changed: ['file'], renamed_from: from }, 'module');
    this.#statusSink?.remove(from);
    this.#statusSink?.write(describeFileStatus(slot.record));
  }

  #takeRemoved(removed: readonly string[]): ModuleSlot[] {
    return removed.flatMap((file) => {
      const slot = this.#slots.get(file);
      this.#slots.delete(file);
      return slot ?? [];
    });
  }

  #isFree(name: string, asking: ModuleSlot): boolean {
    for (const slot of this.#slots.values()) {
      if (slot === asking) continue;
      if (slot.live?.name === name || slot.wantedName === name) return false;
    }
    return true;
  }

  #replace(retired: ModuleVersion | null): void {
    if (this.#held !== null) {
      if (retired !== null) this.#held.retired.push(retired);
      return;
    }
    this.#publish();
    // Nobody waits for it; it ends by itself.
    if (retired !== null) void retire(retired);
  }

  #releaseHeld(): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    this.#publish();
    for (const { record, changed } of held.reports) this.#reportRecord(record, changed);
    for (const version of held.retired) void retire(version);
  }

  #publish(): void {
    if (this.#isStarting) return;
    const generation = new Map<string, LiveModule>();
    for (const { live } of this.#slots.values()) if (live !== null) generation.set(live.name, live);
    this.#generation = generation;
  }

  #reportRecord(record: ModuleRecord, changed: readonly string[]): void {
    if (this.#held !== null) {
      this.#held.reports.push({ record, changed });
      return;
    }
    const { name: module, file, state, reason, hint } = record;
    const write = state === 'refused' || state === 'stale' ? this.#log.error : this.#log.info;
    const digest = record.live?.configDigest ?? null;
    write({ module, file, state, changed, reason, hint, digest }, 'module');
    this.#statusSink?.write(describeFileStatus(record));
  }

  #reportRemoval({ file, record }: ModuleSlot): void {
    this.#log.info({ module: record.name, file, state: 'removed', changed: ['removed'] }, 'module');
    this.#statusSink?.remove(file);
  }

  #reportDirectory(error: UnreadableDirectory | null): void {
    const isLost = error !== null;
    if (isLost === this.#isDirectoryLost) return;
    this.#isDirectoryLost = isLost;
    if (isLost) this.#log.error({ reason: error.message }, 'the modules serve on as they were');
    else this.#log.info({}, 'the modules folder is back');
  }
}

/** Lets calls in flight finish, then closes what the version holds. */
async function retire({ client, scope }: ModuleVersion): Promise<void> {
  await client.drain(RETIRE_MS);
  await scope.close();
}

interface NameSettlement {
  readonly winners: readonly ModuleSlot[];
  /** Each with the slot that has its name. */
  readonly losers: ReadonlyMap<ModuleSlot, ModuleSlot>;
}

/** Whether a file is to serve under a name that another one serves under until now. */
function hasMovingName(won: readonly ModuleSlot[], gone: readonly ModuleSlot[]): boolean {
  const freed = new Set(gone.map(({ live }) => live?.name ?? null));
  return won.some(
    (slot) => (slot.live !== null && slot.heldName === null) || freed.has(slot.wantedName),
  );
}

/** Of two that want one name, the one that serves under it keeps it, else the first by file (contract 6). */
function settleNames(
  slots: readonly ModuleSlot[],
  holders: ReadonlyMap<string, string>,
): NameSettlement {
  const owners = new Map<string, ModuleSlot>();
  const byFile = slots.toSorted((a, b) => compare(a.file, b.file));
  for (const slot of byFile) {
    const name = slot.heldName ?? slot.wantedName;
    if (name === null) continue;
    if (slot.heldName !== null || holders.get(name) === slot.file) owners.set(name, slot);
  }
  const losers = new Map<ModuleSlot, ModuleSlot>();
  for (const slot of byFile) {
    if (slot.wantedName === null) continue;
    const owner = owners.get(slot.wantedName);
    if (owner === undefined) owners.set(slot.wantedName, slot);
    else if (owner !== slot) losers.set(slot, owner);
  }
  const winners = byFile.filter((slot) => slot.wantedName !== null && !losers.has(slot));
  return { winners, losers };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

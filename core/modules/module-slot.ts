import type { Log } from '../contract/index.js';
import type { Mount } from '../descriptor/sections/mount.js';
import { formatDiagnostic } from '../document/diagnostic.js';
import { readKnownFiles, reportFiles } from '../document/known-files.js';
import { isTransient } from '../document/transient-error.js';
import { isolate } from '../isolation/isolate.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { nameError } from '../lib/name-error.js';
import { ManifestUnavailable, parseStoredManifest } from '../manifest/load-manifest.js';
import { KnownModule } from '../provider/known-module.js';
import type { DirectoryFile } from '../watch/directory.js';
import { type DescriptorSource, readDescriptorSource, UNREAD_SOURCE } from './descriptor-source.js';
import type { LastGood, LastGoodKeeper } from './last-good.js';
import type { LiveModule } from './live-module.js';
import type { ModuleRecord } from './module-record.js';
import { type ModuleVersion, openVersion, type VersionContext } from './module-version.js';
import {
  type DescriptorContext,
  type PreparedDescriptor,
  prepareDescriptor,
} from './prepare-descriptor.js';
import { watchProbation } from './probation.js';
import type { SharedProbation } from './shared-probation.js';
import { reduce } from './slot-reducer.js';
import {
  createSlotState,
  describeSlot,
  type Serving,
  type SlotEffect,
  type SlotEffects,
  type SlotEvent,
  type SlotState,
} from './slot-state.js';
import { explainError, type StateReason } from './state-reason.js';

const MANIFEST_BACKOFF: BackoffBounds = { firstMs: 200, maxMs: 10_000 };

// Opening is expensive, and a module may fault each time it is opened.
const REOPEN_BACKOFF: BackoffBounds = { firstMs: 1000, maxMs: 60_000 };
const BACKOFF_RESET_MS = 300_000;

export interface SlotContext extends DescriptorContext, VersionContext {
  readonly log: Log;
  readonly lastGood: LastGoodKeeper;
  /** The counts of other workers for versions on probation; absent in a single-process host. */
  readonly sharedProbation?: SharedProbation;
  readonly pathOf: (file: string) => string;
  /** Whether no other file serves under the name or will do so. */
  readonly isNameFree: (name: string, file: string) => boolean;
  /**
   * Called when the serving version has changed; `retired` can be closed once no request can select
   * it.
   */
  readonly onLiveChange: (file: string, retired: ModuleVersion | null) => void;
  /** Called when the slot's record has changed; `changed` lists the changed parts of the module. */
  readonly onRecordChange: (record: ModuleRecord, changed: readonly string[]) => void;
}

type Runners = {
  readonly [K in keyof SlotEffects]: (slot: ModuleSlot, effect: SlotEffects[K]) => void;
};

/** Live modules by version, so that a rollback does not bind a version to its manifest again. */
const boundModules = new WeakMap<Serving, LiveModule>();

const DONE: Promise<void> = Promise.resolve();

/**
 * Runs the effects that `reduce` returns for one descriptor file and its module, and reports their
 * results.
 */
export class ModuleSlot {
  readonly #context: SlotContext;
  #current;
  #live: LiveModule | null = null;
  #record: {
    readonly state: SlotState;
    readonly live: LiveModule | null;
    readonly record: ModuleRecord;
  } | null = null;
  readonly #effects: SlotEffect[] = [];
  #isRunning = false;
  #hasTransientError = false;
  #asksAgain = false;
  #opening = DONE;
  #closing: Promise<unknown> = DONE;
  #firstAttempt = DONE;
  #stopProbation: (() => void) | null = null;
  /** Survives a reload, as does the start of the current state. */
  #known: { readonly module: string; readonly provider: KnownModule } | null = null;
  #faults = 0;
  #lastFaultAt = Number.NEGATIVE_INFINITY;

  constructor(file: string, context: SlotContext) {
    this.#context = context;
    this.#current = createSlotState(file, new Date());
  }

  get file(): string {
    return this.#current.file;
  }

  /** The content of the file, which may not serve yet, or never. */
  get source(): DescriptorSource {
    return this.#current.source;
  }

  get live(): LiveModule | null {
    return this.#live;
  }

  /** Whether its file must be read again, although it does not change. */
  get hasTransientError(): boolean {
    return this.#hasTransientError;
  }

  /** Resolves when a pending manifest has been requested once. */
  get firstAttempt(): Promise<void> {
    return this.#firstAttempt;
  }

  /** The same object until something changes: thousands of records are listed at once. */
  get record(): ModuleRecord {
    const [state, live] = [this.#current, this.#live];
    if (this.#record?.state !== state || this.#record.live !== live) {
      const record = { live, mounts: this.mounts, ...describeSlot(state) };
      this.#record = { state, live, record };
    }
    return this.#record.record;
  }

  /** Read for each unknown name, so that no record is built. `null` for a module in another state. */
  get waiting(): Pick<ModuleRecord, 'name' | 'descriptor'> | null {
    const { published } = this.#current;
    return published.state === 'waiting' && this.#live === null ? published : null;
  }

  /** The mounts of the serving version, otherwise of the file. */
  get mounts(): readonly Mount[] {
    return this.#live?.descriptor.mount ?? this.source.mounts;
  }

  /** A manifest from a URL or from the provider is requested again when the file has been read. */
  askAgain(): void {
    this.#asksAgain = true;
  }

  /** Called when the file was renamed without a change of its content. */
  rename(file: string): void {
    this.#dispatch({ kind: 'renamed', file });
  }

  /** Called when the stored last good version was lost. */
  keepAgain(): void {
    this.#dispatch({ kind: 'lastGoodLost' });
  }

  /**
   * Reads and validates the file; the serving version does not change. After a transient error, the
   * known content does not change either.
   */
  async read(entry: DirectoryFile): Promise<void> {
    const source = await readDescriptorSource(entry, this.#context, this.#live?.name ?? null);
    this.#hasTransientError = source.isTransient;
    if (source.isTransient && this.source !== UNREAD_SOURCE) return;
    this.#dispatch({ kind: 'read', source });
    for (const warning of source.prepared?.warnings ?? []) {
      const fields = { module: source.name, file: this.file, warning: formatDiagnostic(warning) };
      this.#context.log.warn(fields, 'descriptor warning');
    }
  }

  /**
   * Serves the content of the file. Does not wait for a manifest from a URL or from the provider.
   * @param taken the reason if another file has its name or one of its mounts
   */
  async apply(taken: StateReason | null = null): Promise<void> {
    const mayOpen = taken === null && this.source.prepared?.descriptor.enabled === true;
    const storedVersion = mayOpen && this.#live === null ? await this.#readLastGood() : null;
    // Without the stored version, one that was rolled back might serve.
    if (storedVersion === undefined) return;
    const asksAgain = this.#asksAgain;
    this.#asksAgain = false;
    const storedRejection = storedVersion?.rejected ?? null;
    this.#dispatch({ kind: 'applied', taken, storedRejection, asksAgain });
    await this.#settle();
  }

  /** Called when another worker has rolled back a version. */
  async rejectVersion(digest: string, reason: string): Promise<void> {
    this.#dispatch({ kind: 'rejectedElsewhere', digest, reason });
    await this.#settle();
  }

  /** Called when the file was removed: its version drains. */
  remove(): void {
    this.#dispatch({ kind: 'removed' });
  }

  /** Called when the host stops: closes immediately, and keeps the last good version. */
  async close(): Promise<void> {
    this.#dispatch({ kind: 'closed' });
    await this.#closing;
  }

  /** Runs effects of an event during another effect after those of the earlier event. */
  #dispatch(event: SlotEvent): void {
    this.#isolate(() => {
      const { state, effects } = reduce(this.#current, event, new Date());
      this.#current = state;
      this.#effects.push(...effects);
    });
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let next = this.#effects.shift(); next; next = this.#effects.shift()) {
      const effect = next;
      this.#isolate(() => this.#run(effect.kind, effect));
    }
    this.#isRunning = false;
  }

  #isolate(work: () => void): void {
    // Never rejects.
    void isolate(this.#context.log, this.file, async () => work());
  }

  #run<K extends keyof SlotEffects>(kind: K, effect: SlotEffects[K]): void {
    ModuleSlot.#runners[kind](this, effect);
  }

  static readonly #runners: Runners = {
    open: (slot, { file, prepared }) => {
      slot.#opening = slot.#open(file, prepared);
    },
    close: (slot, { version }) => {
      slot.#closing = Promise.all([slot.#closing, version.scope.close()]);
    },
    serve: (slot, { serving, retired }) => {
      slot.#live = serving && slot.#bind(serving);
      slot.#context.onLiveChange(slot.file, retired);
    },
    requestManifest: (slot, { version, attempt }) => {
      const requested = slot.#requestManifest(version, attempt);
      if (attempt === 1) slot.#firstAttempt = requested;
    },
    retryManifest: (slot, { version, attempt }) => {
      const delayMs = backoffMs(attempt, MANIFEST_BACKOFF);
      slot.#dispatchLater({ kind: 'manifestDue', version }, delayMs);
    },
    retryOpening: (slot, { version }) => {
      slot.#dispatchLater({ kind: 'reopenDue', version }, slot.#nextReopenMs());
    },
    startProbation: (slot, { version, rules }) => {
      const share = slot.#context.sharedProbation?.join(version.prepared.inputDigest) ?? null;
      slot.#stopProbation = watchProbation(version.client, rules, share, (failure) =>
        slot.#dispatch({ kind: 'probationEnded', version, failure }),
      );
    },
    endProbation: (slot) => slot.#stopProbation?.(),
    announce: (slot, { rejected }) => slot.#context.sharedProbation?.reject(rejected),
    storeLastGood: (slot, { file, serving: { version, manifest }, rejected }) => {
      const { text, references } = version.prepared;
      reportFiles(references.contents);
      slot.#context.lastGood.write(file, {
        text,
        manifest: manifest.written ?? manifest.manifest,
        rejected,
      });
    },
    removeLastGood: (slot, { file }) => slot.#context.lastGood.remove(file),
    publish: (slot, { record, changed }) => {
      const { mounts } = slot;
      slot.#context.onRecordChange({ live: slot.#live, mounts, ...record }, changed);
    },
  };

  /** Resolves when no version is being opened, or the slot has ended. */
  async #settle(): Promise<void> {
    while (this.#current.opening !== null && !this.#current.isEnded) await this.#opening;
  }

  /** Never rejects. */
  async #open(file: string, prepared: PreparedDescriptor | null): Promise<void> {
    try {
      const version = await (prepared ? this.#openVersion(prepared) : this.#openLastGood(file));
      if (version === null) throw new Error('no last good version can be opened');
      const { uncaughtErrors } = version;
      const nameFirst = () => nameError(uncaughtErrors.first?.error);
      uncaughtErrors.onError = () => this.#dispatch({ kind: 'threw', version, first: nameFirst() });
      const { count } = uncaughtErrors;
      const errors = { count, first: count === 0 ? null : nameFirst() };
      this.#dispatch({ kind: 'opened', version, errors });
    } catch (error) {
      this.#hasTransientError ||= isTransient(error);
      this.#dispatch({ kind: 'openFailed', reason: explainError(error) });
    }
  }

  #openVersion(prepared: PreparedDescriptor): Promise<ModuleVersion> {
    const { module } = prepared.descriptor;
    if (this.#known?.module !== module) this.#known = { module, provider: new KnownModule() };
    return openVersion(prepared, this.#context, this.#known.provider);
  }

  /** @returns `null` when none is stored, another file has its name now, or it cannot be opened */
  async #openLastGood(file: string): Promise<ModuleVersion | null> {
    const { log, pathOf, isNameFree } = this.#context;
    const storedVersion = await this.#readLastGood(file);
    if (storedVersion == null) return null;
    try {
      const manifest = parseStoredManifest(storedVersion.manifest, null, {
        kinds: this.#context.plugins.kinds(),
      });
      if (manifest === null) return null;
      const entry = { file, path: pathOf(file), text: storedVersion.text };
      const prepared = await readKnownFiles(() =>
        prepareDescriptor(entry, this.#context, manifest),
      );
      const isFree = isNameFree(prepared.descriptor.module, file);
      return isFree ? await this.#openVersion(prepared) : null;
    } catch (error) {
      log.warn({ err: error, file }, 'last good version cannot be opened');
      return null;
    }
  }

  /** `undefined` after a transient error. Never rejects. */
  async #readLastGood(file = this.file): Promise<LastGood | null | undefined> {
    try {
      return await this.#context.lastGood.read(file);
    } catch {
      this.#hasTransientError = true;
      return undefined;
    }
  }

  #bind(serving: Serving): LiveModule {
    const live = boundModules.get(serving) ?? serving.version.createLive(serving.manifest);
    boundModules.set(serving, live);
    return live;
  }

  /** Never rejects. */
  async #requestManifest(version: ModuleVersion, attempt: number): Promise<void> {
    try {
      const manifest = await version.requestManifest();
      this.#dispatch({ kind: 'manifestLoaded', version, manifest });
    } catch (error) {
      const reason = explainError(error);
      if (error instanceof ManifestUnavailable) {
        const storedVersion = attempt === 1 ? await this.#readLastGood() : null;
        const lastGood =
          storedVersion == null
            ? null
            : parseStoredManifest(
                storedVersion.manifest,
                version.prepared.descriptor,
                version.prepared,
              );
        this.#dispatch({ kind: 'manifestUnavailable', version, reason, lastGood });
      } else {
        this.#dispatch({ kind: 'manifestInvalid', version, reason });
        await this.#settle();
      }
    }
  }

  #dispatchLater(event: Extract<SlotEvent, { version: ModuleVersion }>, delayMs: number): void {
    const timer = setTimeout(() => this.#dispatch(event), delayMs);
    event.version.scope.defer(() => clearTimeout(timer));
  }

  #nextReopenMs(): number {
    const now = performance.now();
    if (now - this.#lastFaultAt > BACKOFF_RESET_MS) this.#faults = 0;
    this.#lastFaultAt = now;
    this.#faults += 1;
    return backoffMs(this.#faults, REOPEN_BACKOFF);
  }
}

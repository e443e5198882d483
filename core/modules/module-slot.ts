import type { Log } from '../contract/index.js';
import type { Probation } from '../descriptor/descriptor.js';
import { formatDiagnostic } from '../document/diagnostic.js';
import type { IdentitySigner } from '../identity/identity-keys.js';
import { nameError } from '../isolation/error-owner.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import {
  type LoadedManifest,
  ManifestUnavailable,
  parseStoredManifest,
} from '../manifest/load-manifest.js';
import type { LoadShedder } from '../provider/load-shedding.js';
import type { Store } from '../store/store.js';
import type { DirectoryFile } from '../watch/directory.js';
import { RecoveryBackoff } from './fault-recovery.js';
import type { LastGoodKeeper } from './last-good.js';
import type { Leadership } from './leadership.js';
import type { LiveModule } from './live-module.js';
import { listChanges } from './module-changes.js';
import {
  explainError,
  type ModuleRecord,
  type ModuleState,
  REJECTED_STATES,
  type RejectedDigests,
  type StateReason,
} from './module-record.js';
import { type ModuleVersion, openVersion } from './module-version.js';
import {
  configDigestOf,
  type DescriptorContext,
  digestText,
  type PreparedDescriptor,
  prepareDescriptor,
  UnpreparedDescriptor,
} from './prepare-descriptor.js';
import { type ProbationFigures, type SharedProbation, watchProbation } from './probation.js';

export interface SlotContext extends DescriptorContext {
  readonly log: Log;
  readonly stateDir: string;
  readonly store: Store;
  readonly pressure?: LoadShedder;
  readonly identity?: IdentitySigner;
  readonly lastGood: LastGoodKeeper;
  readonly leadership: Leadership;
  /** What other workers of the host find of versions on probation; absent where there are none. */
  readonly sharedProbation?: SharedProbation;
  /** The path of a descriptor's file. */
  readonly pathOf: (file: string) => string;
  /** Whether no slot but this one serves, or is to serve, under the name. */
  readonly isFree: (name: string, slot: ModuleSlot) => boolean;
  /** Called when what the slot serves has changed; `retired` may be closed once nobody can choose it. */
  readonly onLiveChange: (retired: ModuleVersion | null) => void;
  /** Called when the slot's record has changed; `changed` says what of the module, if anything. */
  readonly onRecordChange: (record: ModuleRecord, changed: readonly string[]) => void;
}

const ROLLED_BACK_HINT = 'change the descriptor or a file that it names to try again';
const MANIFEST_BACKOFF: BackoffBounds = { firstMs: 200, maxMs: 10_000 };

const FAULTED_HINT =
  'the log has the error; the module is opened again by and by, or at once when one of its files changes';

/** A version whose code left an error uncaught: what state it is in nobody knows. */
interface Faulted {
  readonly version: ModuleVersion;
  /** Whether it was still to get its manifest. */
  readonly isPending: boolean;
  /** What the slot would say of itself but for the fault. */
  otherwise: { readonly state: ModuleState; readonly trouble: StateReason | null };
}

interface Serving {
  readonly version: ModuleVersion;
  readonly live: LiveModule;
}

/**
 * One descriptor file and the module that came of it. A new version is built beside the old one, one
 * reference is swapped, and the old one drains; a version that is bad leaves the old one in place.
 */
export class ModuleSlot {
  readonly #context: SlotContext;
  #file: string;
  #state: ModuleState = 'waiting';
  #since = new Date();
  #trouble: StateReason | null = null;
  /** Why the file cannot be used as it is. */
  #fault: StateReason | null = null;
  #attempts = 0;
  /** The module that the file is for, as far as it could be read. */
  #name: string | null = null;
  /** What is told of the file: what it says now is told when it is settled what comes of that. */
  #told: Pick<ModuleRecord, 'name' | 'descriptor' | 'fileDigest' | 'rejected'> = {
    name: null,
    descriptor: null,
    fileDigest: null,
    rejected: null,
  };
  /** Of the text that was read last; `null` where there was none to be had. */
  #textDigest: string | null = null;
  /** What the file says, when that is good. */
  #wanted: PreparedDescriptor | null = null;
  #files: readonly string[] = [];
  /** The version that serves, with the module that it serves. */
  #serving: Serving | null = null;
  /** A version that is to serve and has no manifest yet. */
  #pending: ModuleVersion | null = null;
  #hasYielded = false;
  /** While the serving version is on probation: the one before, still open, and how to end the watch. */
  #probation: { readonly before: Serving; readonly end: () => void } | null = null;
  /** What was rolled back, and is not to be tried again until the file says something else. */
  #rejectedDigest: string | null = null;
  #firstTry: Promise<void> = Promise.resolve();
  /** Until it is opened again, its version goes on serving as well as it can. */
  #faulted: Faulted | null = null;
  readonly #faultBackoff = new RecoveryBackoff();
  /** Errors left uncaught by all versions. */
  #strays = 0;

  constructor(file: string, context: SlotContext) {
    this.#file = file;
    this.#context = context;
  }

  get file(): string {
    return this.#file;
  }

  get live(): LiveModule | null {
    return this.#serving?.live ?? null;
  }

  /** The name under which the file asks to be served; `null` when it asks for none. */
  get wantedName(): string | null {
    return this.#wanted?.descriptor.enabled ? this.#wanted.descriptor.module : null;
  }

  /** The name that the slot has a right to since it serves under it, and its file does not say otherwise. */
  get heldName(): string | null {
    const name = this.live?.name ?? null;
    return this.#wanted === null || this.wantedName === name ? name : null;
  }

  /** Whether it last lost its name to another file. */
  get hasYielded(): boolean {
    return this.#hasYielded;
  }

  /** Resolves when the manifest that is still to come has been asked for once. */
  get firstTry(): Promise<void> {
    return this.#firstTry;
  }

  /** Every file that the descriptor names, absolute. */
  get namedFiles(): readonly string[] {
    return this.#files;
  }

  get record(): ModuleRecord {
    return {
      file: this.#file,
      ...this.#told,
      state: this.#state,
      since: this.#since,
      reason: this.#trouble?.reason ?? null,
      hint: this.#trouble?.hint ?? null,
      attempts: this.#attempts,
      live: this.live,
      strays: this.#strays,
    };
  }

  /** The file has another name now, and says the same. */
  rename(file: string): void {
    const before = this.#file;
    this.#file = file;
    this.#keepLastGood();
    this.#context.lastGood.remove(before);
  }

  /** Reads and judges what the file says; serving goes on as it was. */
  async read(entry: DirectoryFile): Promise<void> {
    const textDigest = 'text' in entry ? digestText(entry.text) : null;
    try {
      this.#wanted = await prepareDescriptor(entry, this.#context);
      this.#fault = null;
      this.#name = this.#wanted.descriptor.module;
      this.#files = this.#wanted.files;
      for (const warning of this.#wanted.warnings) {
        this.#context.log.warn({ module: this.#name, file: this.#file }, formatDiagnostic(warning));
      }
    } catch (error) {
      if (!(error instanceof UnpreparedDescriptor)) throw error;
      this.#wanted = null;
      this.#name = error.module ?? this.live?.name ?? null;
      this.#files = error.files;
      this.#fault = explainError(error.cause);
    }
    this.#textDigest = textDigest;
  }

  /** Another file has the name that this one asks for. */
  async loseNameTo(winner: ModuleSlot): Promise<void> {
    this.#hasYielded = true;
    this.#dropPending();
    await this.#fallBack({
      reason: `module '${this.wantedName}' is already configured by ${winner.file}`,
      hint: 'give one of the two another name, or remove it',
    });
  }

  /** Makes what the file says serve; a manifest that is still to come is asked for meanwhile. */
  async apply(): Promise<void> {
    const wanted = this.#wanted;
    this.#hasYielded = false;
    if (wanted === null) {
      this.#dropPending();
      if (this.#fault !== null) await this.#fallBack(this.#fault);
      return;
    }
    if (!wanted.descriptor.enabled) {
      this.#dropPending();
      this.#serve(null);
      this.#setState('disabled', { reason: 'enabled is false in the descriptor', hint: null });
      this.#context.lastGood.remove(this.#file);
      return;
    }
    if (wanted.inputDigest !== this.#rejectedDigest) this.#rejectedDigest = null;
    if (this.#faulted?.version.prepared.inputDigest === wanted.inputDigest) {
      const faulted = this.#faulted;
      if (!faulted.isPending) faulted.otherwise = { state: 'live', trouble: null };
      await this.#reopen(faulted);
      return;
    }
    if (this.#serves(wanted)) {
      this.#dropPending();
      this.#setState('live', null);
      return;
    }
    if (this.#pending?.prepared.inputDigest === wanted.inputDigest) return;
    if (await this.#isRejected(wanted)) return;
    this.#dropPending();
    await this.#open(wanted);
  }

  /** The file is gone: what it served drains. */
  remove(): void {
    this.#dropPending();
    this.#serve(null);
    this.#context.lastGood.remove(this.#file);
  }

  /** The host ends: closes at once, and forgets nothing. */
  async close(): Promise<void> {
    this.#dropPending();
    this.#probation?.end();
    await this.#probation?.before.version.scope.close();
    await this.#serving?.version.scope.close();
  }

  #serves(wanted: PreparedDescriptor): boolean {
    return (
      this.#pending === null && this.#serving?.version.prepared.inputDigest === wanted.inputDigest
    );
  }

  /** Whether the version was rolled back, perhaps before a restart; the one before it serves then. */
  async #isRejected(wanted: PreparedDescriptor): Promise<boolean> {
    if (this.#serving === null) {
      const kept = await this.#context.lastGood.read(this.#file);
      this.#rejectedDigest = kept?.rejected ?? null;
    }
    if (this.#rejectedDigest !== wanted.inputDigest) return false;
    if (this.#serving === null) await this.#restore();
    if (this.#serving === null) return false;
    this.#setState('rolled_back', {
      reason: this.#trouble?.reason ?? 'the version in the file was rolled back before',
      hint: ROLLED_BACK_HINT,
    });
    return true;
  }

  async #open(wanted: PreparedDescriptor): Promise<void> {
    try {
      const version = await this.#openVersion(wanted);
      if (wanted.manifest === null) this.#awaitManifest(version);
      else await this.#swap(version, wanted.manifest, 'live', null);
    } catch (error) {
      await this.#fallBack(explainError(error));
    }
  }

  async #openVersion(prepared: PreparedDescriptor): Promise<ModuleVersion> {
    const version = await openVersion(prepared, this.#context);
    const { strays } = version;
    this.#strays += strays.count;
    strays.onError = () => {
      this.#strays += 1;
      if (strays.count === 1) this.#markFaulted(version);
    };
    return version;
  }

  /** An error was left uncaught. What had one before it serves faults when it does. */
  #markFaulted(version: ModuleVersion): void {
    const isServing = this.#serving?.version === version;
    const isPending = this.#pending === version;
    if (!isServing && !isPending) return;
    const error = nameError(version.strays.first?.error);
    if (isServing && this.#probation !== null) {
      this.#rollBack(`an error was left uncaught on probation: ${error}`);
      return;
    }
    if (isPending) this.#pending = null;
    const otherwise = { state: this.#state, trouble: this.#trouble };
    this.#faulted = { version, isPending, otherwise };
    this.#reopenLater(this.#faulted);
    const reason = `the code of the module left an error uncaught: ${error}`;
    this.#setState('faulted', { reason, hint: FAULTED_HINT });
  }

  #reopenLater(faulted: Faulted): void {
    const reopen = () => void this.#reopen(faulted);
    const timer = setTimeout(reopen, this.#faultBackoff.next());
    faulted.version.scope.defer(() => clearTimeout(timer));
  }

  /** Opens what faulted once more, beside it, and lets it go. */
  async #reopen(faulted: Faulted): Promise<void> {
    if (this.#faulted !== faulted) return;
    try {
      const version = await this.#openVersion(faulted.version.prepared);
      if (this.#faulted !== faulted) return void version.scope.close();
      this.#takeOver(faulted, version);
    } catch (error) {
      if (this.#faulted !== faulted) return;
      const { reason, hint } = explainError(error);
      this.#setState('faulted', { reason: `cannot be opened again: ${reason}`, hint });
      this.#reopenLater(faulted);
    }
  }

  #takeOver(faulted: Faulted, version: ModuleVersion): void {
    const { live } = this;
    const { state, trouble } = faulted.otherwise;
    const isServing = this.#serving?.version === faulted.version;
    this.#faulted = null;
    if (isServing && live !== null) {
      const { manifest, manifestDigest: digest } = live;
      this.#serve({ version, live: version.createLive({ manifest, digest }) });
    }
    this.#setState(state, trouble);
    if (faulted.isPending) {
      if (!isServing) this.#discard(faulted.version);
      this.#awaitManifest(version);
    }
    if (version.strays.first !== null) this.#markFaulted(version);
  }

  #awaitManifest(version: ModuleVersion): void {
    this.#pending = version;
    this.#attempts = 0;
    if (this.#serving === null) this.#tell();
    this.#firstTry = this.#tryManifest(version);
  }

  async #tryManifest(version: ModuleVersion): Promise<void> {
    this.#attempts += 1;
    try {
      const manifest = await version.askManifest();
      if (this.#pending !== version) return;
      this.#pending = null;
      await this.#swap(version, manifest, 'live', null);
    } catch (error) {
      if (this.#pending !== version) return;
      if (error instanceof ManifestUnavailable) await this.#wait(version, explainError(error));
      else await this.#refuseManifest(version, error);
    }
  }

  /** Serves with the last good manifest meanwhile, if there is one, and asks again. */
  async #wait(version: ModuleVersion, trouble: StateReason): Promise<void> {
    const retry = () => void this.#tryManifest(version);
    const timer = setTimeout(retry, backoffMs(this.#attempts, MANIFEST_BACKOFF));
    version.scope.defer(() => clearTimeout(timer));
    if (this.#attempts === 1) {
      const kept = await this.#context.lastGood.read(this.#file);
      const manifest = kept && parseStoredManifest(kept.manifest, version.prepared.descriptor);
      if (manifest) await this.#swap(version, manifest, 'waiting', trouble);
    }
    this.#setState('waiting', trouble);
  }

  async #refuseManifest(version: ModuleVersion, error: unknown): Promise<void> {
    this.#dropPending();
    if (this.#serving?.version === version) this.#serve(null);
    await this.#fallBack(explainError(error));
  }

  async #swap(
    version: ModuleVersion,
    manifest: LoadedManifest,
    state: ModuleState,
    trouble: StateReason | null,
  ): Promise<void> {
    const before = this.#serving;
    const changed = listChanges(before?.live ?? null, version, manifest.digest);
    const next = { version, live: version.createLive(manifest) };
    const { probation } = version.prepared.descriptor;
    if (before !== null && before.version !== version && probation !== null) {
      this.#serveOnProbation(next, before, probation);
    } else {
      this.#serve(next);
    }
    this.#setState(state, trouble, changed);
    if (version.strays.first !== null) this.#markFaulted(version);
    if (state === 'live' && this.#probation === null) this.#keepLastGood();
  }

  #serveOnProbation(next: Serving, before: Serving, probation: Probation): void {
    this.#endProbation();
    this.#forgetFault(before.version);
    this.#serving = next;
    this.#context.onLiveChange(null);
    const end = watchProbation(next.version.client, probation, {
      share: this.#context.sharedProbation?.join(next.version.prepared.inputDigest) ?? null,
      onPassed: () => {
        this.#endProbation();
        this.#keepLastGood();
      },
      onFailed: (figures) => this.#rollBack(describeFailure(figures, probation)),
    });
    this.#probation = { before, end };
  }

  #rollBack(reason: string): void {
    const rejected = this.#serving?.version ?? null;
    if (this.#probation === null || rejected === null) return;
    this.#goBack(this.#probation.before);
    this.#reportRollBack(rejected, reason);
    const digest = rejected.prepared.inputDigest;
    this.#context.sharedProbation?.reject({ file: this.#file, digest, reason });
  }

  /** Another worker has rolled back, and all are to serve the same. */
  async rejectVersion(digest: string, reason: string): Promise<void> {
    const rejected = this.#serving?.version ?? null;
    if (rejected?.prepared.inputDigest !== digest) {
      // Not read here yet: it is not even to be tried.
      this.#rejectedDigest = digest;
      return;
    }
    // Where the one before is closed already, the worker that went back has kept it.
    if (this.#probation === null) await this.#restore();
    else this.#goBack(this.#probation.before);
    if (this.#serving?.version !== rejected) this.#reportRollBack(rejected, reason);
  }

  #goBack(before: Serving): void {
    const rejected = this.#serving?.version ?? null;
    this.#probation?.end();
    this.#probation = null;
    this.#serving = before;
    this.#context.onLiveChange(rejected);
  }

  #reportRollBack(rejected: ModuleVersion, reason: string): void {
    this.#rejectedDigest = rejected.prepared.inputDigest;
    this.#setState('rolled_back', { reason, hint: ROLLED_BACK_HINT });
    const version = this.#serving?.version ?? null;
    if (version !== null && version.strays.first !== null) this.#markFaulted(version);
    this.#keepLastGood();
  }

  /** The version before is needed no more. */
  #endProbation(): void {
    const probation = this.#probation;
    if (probation === null) return;
    this.#probation = null;
    probation.end();
    this.#context.onLiveChange(probation.before.version);
  }

  #keepLastGood(): void {
    if (this.#serving === null) return;
    const { version, live } = this.#serving;
    this.#context.lastGood.write(this.#file, {
      text: version.prepared.text,
      manifest: live.manifest,
      rejected: this.#rejectedDigest,
    });
  }

  /** What was good goes on serving; at start that is what was kept from before. */
  async #fallBack(trouble: StateReason): Promise<void> {
    if (this.#serving === null) await this.#restore();
    this.#setState(this.#serving === null ? 'refused' : 'stale', trouble);
  }

  async #restore(): Promise<void> {
    const kept = await this.#context.lastGood.read(this.#file);
    if (kept === null) return;
    try {
      const entry = { file: this.#file, path: this.#context.pathOf(this.#file), text: kept.text };
      const manifest = parseStoredManifest(kept.manifest, null);
      if (manifest === null) return;
      const prepared = await prepareDescriptor(entry, this.#context, manifest);
      if (!this.#context.isFree(prepared.descriptor.module, this)) return;
      const version = await this.#openVersion(prepared);
      this.#name ??= prepared.descriptor.module;
      this.#serve({ version, live: version.createLive(manifest) });
    } catch (error) {
      this.#context.log.warn(
        { err: error, file: this.#file },
        'the last good version of a descriptor cannot be opened',
      );
    }
  }

  #serve(next: { version: ModuleVersion; live: LiveModule } | null): void {
    this.#endProbation();
    const previous = this.#serving?.version ?? null;
    this.#serving = next;
    if (previous !== next?.version) this.#forgetFault(previous);
    if (previous === null && next === null) return;
    this.#context.onLiveChange(previous === next?.version ? null : previous);
  }

  #dropPending(): void {
    const pending = this.#pending ?? (this.#faulted?.isPending ? this.#faulted.version : null);
    this.#pending = null;
    if (pending !== null && pending !== this.#serving?.version) this.#discard(pending);
  }

  /** Its calls are none: it never served. */
  #discard(version: ModuleVersion): void {
    this.#forgetFault(version);
    void version.scope.close();
  }

  /** What is to serve no more need not be opened again. */
  #forgetFault(version: ModuleVersion | null): void {
    if (this.#faulted?.version === version) this.#faulted = null;
  }

  #tell(): void {
    const { descriptor = null } = this.#wanted ?? this.#serving?.version.prepared ?? {};
    const isRejected = REJECTED_STATES.has(this.#state);
    const rejected = isRejected ? this.#describeRejected() : null;
    const fileDigest = isRejected ? this.#servingTextDigest() : this.#textDigest;
    this.#told = { name: this.#name, descriptor, fileDigest, rejected };
  }

  #describeRejected(): RejectedDigests {
    const { inputDigest, manifest } = this.#wanted ?? {};
    const isKnown = inputDigest !== undefined && manifest != null;
    return {
      file: this.#textDigest,
      manifest: manifest?.digest ?? null,
      config: isKnown ? configDigestOf(inputDigest, manifest.digest) : null,
    };
  }

  #servingTextDigest(): string | null {
    return this.#serving === null ? null : digestText(this.#serving.version.prepared.text);
  }

  #setState(
    state: ModuleState,
    trouble: StateReason | null,
    changed: readonly string[] = [],
  ): void {
    if (this.#faulted !== null && state !== 'faulted') {
      this.#faulted.otherwise = { state, trouble };
      return;
    }
    const before = this.record;
    if (state !== this.#state) this.#since = new Date();
    this.#state = state;
    this.#trouble = trouble;
    this.#tell();
    const { reason, fileDigest, rejected } = this.record;
    const isNews =
      changed.length > 0 ||
      state !== before.state ||
      reason !== before.reason ||
      fileDigest !== before.fileDigest ||
      rejected?.file !== before.rejected?.file;
    if (isNews) this.#context.onRecordChange(this.record, changed);
  }
}

function describeFailure(figures: ProbationFigures, { maxErrorRate }: Probation): string {
  return `${figures.failed} of ${figures.calls} calls failed on probation, more than the share of ${maxErrorRate}`;
}

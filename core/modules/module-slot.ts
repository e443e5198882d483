import { formatDiagnostic } from '../document/diagnostic.js';
import { type LoadedManifest, parseStoredManifest } from '../manifest/load-manifest.js';
import type { DirectoryFile } from '../watch/directory.js';
import { ActiveVersion } from './active-version.js';
import { type DescriptorSource, readSource, UNREAD_SOURCE } from './descriptor-source.js';
import { FaultRecovery } from './fault-recovery.js';
import type { LiveModule } from './live-module.js';
import { listChanges } from './module-changes.js';
import type { ModuleRecord } from './module-record.js';
import type { ModuleVersion } from './module-version.js';
import { PendingManifest } from './pending-manifest.js';
import type { PreparedDescriptor } from './prepare-descriptor.js';
import { Rollback } from './rollback.js';
import type { SlotContext } from './slot-context.js';
import { SlotStatus } from './slot-status.js';
import { explainError, type StateReason } from './state-reason.js';

/**
 * One descriptor file and its module. A new version is opened while the old one serves, one reference is
 * swapped, and the old version drains. An invalid version leaves the old one in place.
 */
export class ModuleSlot {
  readonly #context: SlotContext;
  readonly #status: SlotStatus;
  readonly #active: ActiveVersion;
  readonly #pending: PendingManifest;
  readonly #faults: FaultRecovery;
  readonly #rollback: Rollback;
  #file: string;
  #source: DescriptorSource = UNREAD_SOURCE;

  constructor(file: string, context: SlotContext) {
    const getFile = () => this.#file;
    this.#file = file;
    this.#context = context;
    this.#active = new ActiveVersion({
      context,
      file: getFile,
      open: (prepared) => this.#faults.open(prepared),
      onReplaced: (version) => this.#faults.forget(version),
    });
    this.#status = new SlotStatus(context, () => ({
      file: this.#file,
      source: this.#source,
      serving: this.#active.current,
      attempts: this.#pending.attempts,
      isFaulted: this.#faults.current !== null,
    }));
    this.#pending = new PendingManifest({
      log: context.log,
      onLoaded: (version, manifest) => this.#swap(version, manifest, 'served', null),
      onUnavailable: (version, error) => this.#waitForManifest(version, explainError(error)),
      onInvalid: (version, error) => this.#rejectManifest(version, explainError(error)),
    });
    this.#faults = new FaultRecovery({
      context,
      status: this.#status,
      active: this.#active,
      pending: this.#pending,
      requestManifest: (version) => this.#requestManifest(version),
      rollBack: (reason) => this.#rollback.rollBack(reason),
    });
    this.#rollback = new Rollback({
      context,
      file: getFile,
      active: this.#active,
      status: this.#status,
      onReturned: (version) => this.#faults.check(version),
    });
  }

  get file(): string {
    return this.#file;
  }

  /** The content of the file; it may not serve yet, or never. */
  get source(): DescriptorSource {
    return this.#source;
  }

  get live(): LiveModule | null {
    return this.#active.live;
  }

  /** Resolves when a pending manifest has been requested once. */
  get firstAttempt(): Promise<void> {
    return this.#pending.firstAttempt;
  }

  get record(): ModuleRecord {
    return this.#status.record;
  }

  /** The file was renamed, and its content is the same. */
  rename(file: string): void {
    const before = this.#file;
    this.#file = file;
    this.#active.keepAsLastGood();
    this.#context.lastGood.remove(before);
  }

  /** The stored last good version was lost. One on probation is not stored before it has passed. */
  keepAgain(): void {
    if (!this.#active.isOnProbation) this.#active.keepAsLastGood();
  }

  /** Reads and validates the file; the serving version does not change. */
  async read(entry: DirectoryFile): Promise<void> {
    this.#source = await readSource(entry, this.#context, this.live?.name ?? null);
    const { name: module, prepared } = this.#source;
    for (const warning of prepared?.warnings ?? []) {
      const fields = { module, file: this.#file, warning: formatDiagnostic(warning) };
      this.#context.log.warn(fields, 'descriptor warning');
    }
  }

  /** Another file has the name of this one. */
  async loseNameTo(owner: ModuleSlot): Promise<void> {
    this.#dropPending();
    await this.#fallBack({
      reason: `module '${this.#source.wantedName}' is already configured by ${owner.file}`,
      hint: 'give one of the two another name, or remove it',
    });
  }

  /** Serves the content of the file. Does not wait for a manifest from a URL or from the provider. */
  async apply(): Promise<void> {
    const { prepared, problem } = this.#source;
    if (prepared === null) {
      this.#dropPending();
      if (problem !== null) await this.#fallBack(problem);
    } else if (prepared.descriptor.enabled) {
      await this.#applyEnabled(prepared);
    } else {
      this.#dropPending();
      this.#active.serve(null);
      this.#status.apply('disabled', { reason: 'enabled is false in the descriptor', hint: null });
      this.#context.lastGood.remove(this.#file);
    }
  }

  /** Another worker has rolled back a version. */
  rejectVersion(digest: string, reason: string): Promise<void> {
    return this.#rollback.followWorker(digest, reason);
  }

  /** The file was removed: its version drains. */
  remove(): void {
    this.#dropPending();
    this.#active.remove();
    this.#status.drain();
    this.#context.lastGood.remove(this.#file);
  }

  /** The host stops: closes immediately, and keeps the last good version. */
  async close(): Promise<void> {
    this.#dropPending();
    await this.#active.close();
  }

  async #applyEnabled(prepared: PreparedDescriptor): Promise<void> {
    const { inputDigest } = prepared;
    if (inputDigest !== this.#active.rejectedDigest) this.#active.rejectedDigest = null;
    const pending = this.#pending.version;
    const fault = this.#faults.current;
    if (fault?.version.prepared.inputDigest === inputDigest) {
      if (!fault.wasPending) this.#status.apply('served');
      await this.#faults.reopen();
    } else if (pending === null && this.#active.version?.prepared.inputDigest === inputDigest) {
      this.#dropPending();
      this.#status.apply('served');
    } else if (pending?.prepared.inputDigest !== inputDigest) {
      if (await this.#rollback.isRolledBack(prepared)) return;
      this.#dropPending();
      await this.#open(prepared);
    }
  }

  async #open(prepared: PreparedDescriptor): Promise<void> {
    try {
      const version = await this.#faults.open(prepared);
      if (prepared.manifest === null) this.#requestManifest(version);
      else this.#swap(version, prepared.manifest, 'served', null);
    } catch (error) {
      await this.#fallBack(explainError(error));
    }
  }

  #swap(
    version: ModuleVersion,
    manifest: LoadedManifest,
    event: 'served' | 'manifestPending',
    reason: StateReason | null,
  ): void {
    const before = this.#active.current;
    const changed = listChanges(before?.live ?? null, version, manifest.digest);
    const next = { version, live: version.createLive(manifest) };
    const { probation } = version.prepared.descriptor;
    if (before === null || before.version === version || probation === null) {
      this.#active.serve(next);
    } else {
      const onFailed = (why: string) => this.#rollback.rollBack(why);
      this.#active.serveOnProbation(next, before, probation, onFailed);
    }
    this.#status.apply(event, reason, changed);
    this.#faults.check(version);
    if (event === 'served' && !this.#active.isOnProbation) this.#active.keepAsLastGood();
  }

  /** Serves the last good version: the open one, or the one stored before a restart. */
  async #fallBack(reason: StateReason): Promise<void> {
    if (this.live === null) await this.#active.restore();
    this.#status.apply(this.live === null ? 'rejected' : 'fellBack', reason);
  }

  #requestManifest(version: ModuleVersion): void {
    this.#pending.request(version);
    if (this.live !== null) return;
    const isRemote = version.prepared.descriptor.manifest.kind === 'url';
    const reason = isRemote
      ? 'the URL of the manifest has not responded yet'
      : 'the provider gave no manifest yet';
    this.#status.apply('manifestPending', { reason, hint: null });
  }

  /** Serves with the last good manifest meanwhile, if there is one. */
  async #waitForManifest(version: ModuleVersion, reason: StateReason): Promise<void> {
    if (this.#pending.attempts === 1) {
      const kept = await this.#context.lastGood.read(this.#file);
      if (this.#pending.version !== version) return;
      const manifest = kept && parseStoredManifest(kept.manifest, version.prepared.descriptor);
      if (manifest) this.#swap(version, manifest, 'manifestPending', reason);
    }
    this.#status.apply('manifestPending', reason);
  }

  async #rejectManifest(version: ModuleVersion, reason: StateReason): Promise<void> {
    this.#dropPending();
    if (this.#active.version === version) this.#active.serve(null);
    await this.#fallBack(reason);
  }

  #dropPending(): void {
    const fault = this.#faults.current;
    const version = this.#pending.version ?? (fault?.wasPending ? fault.version : null);
    this.#pending.drop();
    if (version !== null && version !== this.#active.version) this.#discard(version);
  }

  /** Closes a version that never served and so has no calls in flight. */
  #discard(version: ModuleVersion): void {
    this.#faults.forget(version);
    // Never rejects.
    void version.scope.close();
  }
}

import { isolate } from '../isolation/isolate.js';
import { type BackoffBounds, backoffMs } from '../lib/backoff.js';
import { nameError } from '../lib/name-error.js';
import type { ActiveVersion } from './active-version.js';
import { type ModuleVersion, openVersion } from './module-version.js';
import type { PendingManifest } from './pending-manifest.js';
import type { PreparedDescriptor } from './prepare-descriptor.js';
import type { SlotContext } from './slot-context.js';
import type { SlotStatus } from './slot-status.js';
import { explainError, type StateReason } from './state-reason.js';

// Opening is expensive, and a module may fault each time it is opened.
const REOPEN_BACKOFF: BackoffBounds = { firstMs: 1000, maxMs: 60_000 };
const BACKOFF_RESET_MS = 300_000;

const FAULTED_HINT =
  'see the log for the error; the host will reopen the module with backoff, or at once when one of its files changes';

/** A version whose code threw an uncaught error: its internal state is unknown. */
interface Fault {
  readonly version: ModuleVersion;
  /** Whether its manifest was still pending. */
  readonly wasPending: boolean;
}

interface FaultRecoveryOptions {
  readonly context: SlotContext;
  readonly status: SlotStatus;
  readonly active: ActiveVersion;
  readonly pending: PendingManifest;
  readonly requestManifest: (version: ModuleVersion) => void;
  readonly rollBack: (reason: string) => void;
}

/** Opens versions, counts their uncaught errors, and reopens a faulted version with backoff. */
export class FaultRecovery {
  readonly #options: FaultRecoveryOptions;
  #current: Fault | null = null;
  #faults = 0;
  #lastFaultAt = Number.NEGATIVE_INFINITY;

  constructor(options: FaultRecoveryOptions) {
    this.#options = options;
  }

  get current(): Fault | null {
    return this.#current;
  }

  async open(prepared: PreparedDescriptor): Promise<ModuleVersion> {
    const { context, status } = this.#options;
    const version = await openVersion(prepared, context);
    const { uncaughtErrors } = version;
    status.countUncaughtErrors(uncaughtErrors.count);
    uncaughtErrors.onError = () => {
      status.countUncaughtErrors(1);
      if (uncaughtErrors.count === 1) this.check(version);
    };
    return version;
  }

  /** Marks the module as faulted if the code of the version has thrown an uncaught error. */
  check(version: ModuleVersion): void {
    const { active, pending, status, rollBack } = this.#options;
    const { first } = version.uncaughtErrors;
    const isActive = active.version === version;
    const wasPending = pending.version === version;
    // A version that does not serve yet is checked again when it starts to serve.
    if (first === null || !(isActive || wasPending)) return;
    const error = nameError(first.error);
    if (isActive && active.isOnProbation) {
      rollBack(`uncaught error in module code on probation: ${error}`);
      return;
    }
    if (wasPending) pending.drop();
    this.#current = { version, wasPending };
    this.#reopenLater(this.#current);
    const reason = `uncaught error in module code: ${error}`;
    status.apply('faulted', { reason, hint: FAULTED_HINT });
  }

  /** The version no longer serves, so it is not reopened. */
  forget(version: ModuleVersion): void {
    if (this.#current?.version === version) this.#current = null;
  }

  /** Opens a new version while the faulted one still serves. */
  async reopen(): Promise<void> {
    const fault = this.#current;
    if (fault === null) return;
    let version: ModuleVersion;
    try {
      version = await this.open(fault.version.prepared);
    } catch (error) {
      if (this.#current === fault) this.#retry(fault, explainError(error));
      return;
    }
    if (this.#current !== fault) return void version.scope.close();
    this.#current = null;
    this.#replace(fault, version);
  }

  #replace({ version: faulted, wasPending }: Fault, version: ModuleVersion): void {
    const { active, status, requestManifest } = this.#options;
    const { live } = active;
    const wasActive = active.version === faulted;
    if (wasActive && live !== null) {
      const { manifest, manifestDigest: digest } = live;
      active.serve({ version, live: version.createLive({ manifest, digest }) });
    }
    status.recover();
    // A version that never served has no calls in flight. Never rejects.
    if (wasPending && !wasActive) void faulted.scope.close();
    if (wasPending) requestManifest(version);
    this.check(version);
  }

  #retry(fault: Fault, { reason, hint }: StateReason): void {
    this.#options.status.apply('faulted', { reason: `cannot be reopened: ${reason}`, hint });
    this.#reopenLater(fault);
  }

  #reopenLater(fault: Fault): void {
    const { prepared, scope } = fault.version;
    const reopen = async () => {
      if (this.#current === fault) await this.reopen();
    };
    // Never rejects.
    const run = () => void isolate(this.#options.context.log, prepared.file, reopen);
    const timer = setTimeout(run, this.#nextDelayMs());
    scope.defer(() => clearTimeout(timer));
  }

  #nextDelayMs(): number {
    const now = performance.now();
    if (now - this.#lastFaultAt > BACKOFF_RESET_MS) this.#faults = 0;
    this.#lastFaultAt = now;
    this.#faults += 1;
    return backoffMs(this.#faults, REOPEN_BACKOFF);
  }
}

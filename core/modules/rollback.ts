import type { ActiveVersion } from './active-version.js';
import type { ModuleVersion } from './module-version.js';
import type { PreparedDescriptor } from './prepare-descriptor.js';
import type { SlotContext } from './slot-context.js';
import type { SlotStatus } from './slot-status.js';

const ROLLED_BACK_HINT = 'change the descriptor or a file that it names to try again';

interface RollbackOptions {
  readonly context: SlotContext;
  readonly file: () => string;
  readonly active: ActiveVersion;
  readonly status: SlotStatus;
  /** Called with the previous version, which serves again. */
  readonly onReturned: (version: ModuleVersion) => void;
}

/** Replaces a rejected version with the previous one, and does not try it again. */
export class Rollback {
  readonly #options: RollbackOptions;

  constructor(options: RollbackOptions) {
    this.#options = options;
  }

  /** The version on probation failed. */
  rollBack(reason: string): void {
    const { active, context, file } = this.#options;
    const rejected = active.version;
    if (rejected === null || !active.returnToPrevious()) return;
    this.#publish(rejected, reason);
    const digest = rejected.prepared.inputDigest;
    context.sharedProbation?.reject({ file: file(), digest, reason });
  }

  /** Another worker has rolled back, and all workers must serve the same version. */
  async followWorker(digest: string, reason: string): Promise<void> {
    const { active } = this.#options;
    const rejected = active.version;
    if (rejected?.prepared.inputDigest !== digest) {
      // This worker has not read the version yet and must not try it.
      active.rejectedDigest = digest;
      return;
    }
    // If the previous version is already closed, the worker that rolled back has stored it.
    if (!active.returnToPrevious()) await active.restore();
    if (active.version !== rejected) this.#publish(rejected, reason);
  }

  /** Whether the version was rolled back, perhaps before a restart. Then the previous one serves. */
  async isRolledBack({ inputDigest }: PreparedDescriptor): Promise<boolean> {
    const { active, context, file, status } = this.#options;
    if (active.current === null) {
      const kept = await context.lastGood.read(file());
      active.rejectedDigest = kept?.rejected ?? null;
    }
    if (active.rejectedDigest !== inputDigest) return false;
    if (active.current === null) await active.restore();
    if (active.current === null) return false;
    const reason = status.reason ?? 'the version in the file was rolled back before';
    status.apply('rolledBack', { reason, hint: ROLLED_BACK_HINT });
    return true;
  }

  #publish(rejected: ModuleVersion, reason: string): void {
    const { active, status, onReturned } = this.#options;
    active.rejectedDigest = rejected.prepared.inputDigest;
    status.apply('rolledBack', { reason, hint: ROLLED_BACK_HINT });
    if (active.version !== null) onReturned(active.version);
    active.keepAsLastGood();
  }
}

import type { Probation } from '../descriptor/descriptor.js';
import type { LiveModule } from './live-module.js';
import type { ModuleVersion, ServingVersion } from './module-version.js';
import type { PreparedDescriptor } from './prepare-descriptor.js';
import { ProbationPeriod } from './probation.js';
import { restoreVersion } from './restore-version.js';
import type { SlotContext } from './slot-context.js';

interface ActiveVersionOptions {
  readonly context: SlotContext;
  /** The descriptor's file, which may be renamed. */
  readonly file: () => string;
  readonly open: (prepared: PreparedDescriptor) => Promise<ModuleVersion>;
  /** Called with a version that no longer serves. */
  readonly onReplaced: (version: ModuleVersion) => void;
}

/** The serving version of a module: its replacement, its probation, and its last good copy. */
export class ActiveVersion {
  readonly #options: ActiveVersionOptions;
  readonly #probation: ProbationPeriod;
  #current: ServingVersion | null = null;
  #isRemoved = false;
  /** The input digest of a version that was rolled back. It is not tried again until the file changes. */
  rejectedDigest: string | null = null;

  constructor(options: ActiveVersionOptions) {
    this.#options = options;
    this.#probation = new ProbationPeriod(options.context.sharedProbation ?? null);
  }

  get current(): ServingVersion | null {
    return this.#current;
  }

  get version(): ModuleVersion | null {
    return this.#current?.version ?? null;
  }

  get live(): LiveModule | null {
    return this.#current?.live ?? null;
  }

  get isOnProbation(): boolean {
    return this.#probation.isActive;
  }

  /** @param next `null` stops serving */
  serve(next: ServingVersion | null): void {
    this.#endProbation();
    const previous = this.version;
    this.#current = next;
    if (previous === null && next === null) return;
    const isReplaced = previous !== null && previous !== next?.version;
    if (isReplaced) this.#options.onReplaced(previous);
    this.#options.context.onLiveChange(isReplaced ? previous : null);
  }

  /** Keeps the previous version open until the probation ends. */
  serveOnProbation(
    next: ServingVersion,
    before: ServingVersion,
    rules: Probation,
    onFailed: (reason: string) => void,
  ): void {
    this.#endProbation();
    this.#current = next;
    this.#options.onReplaced(before.version);
    this.#options.context.onLiveChange(null);
    const onPassed = () => {
      this.#endProbation();
      this.keepAsLastGood();
    };
    this.#probation.start(next, before, rules, { onPassed, onFailed });
  }

  /**
   * Serves the version before the one on probation again.
   * @returns `false` when no version is on probation
   */
  returnToPrevious(): boolean {
    const before = this.#probation.end();
    if (before === null) return false;
    const rejected = this.version;
    this.#current = before;
    this.#options.context.onLiveChange(rejected);
    return true;
  }

  /** Serves the stored last good version, if there is one. */
  async restore(): Promise<void> {
    const { context, file, open } = this.#options;
    const before = this.#current;
    const restored = await restoreVersion(file(), context, open);
    if (restored === null) return;
    if (this.#current === before && !this.#isRemoved) this.serve(restored);
    else await restored.version.scope.close();
  }

  keepAsLastGood(): void {
    if (this.#current === null) return;
    const { version, live } = this.#current;
    this.#options.context.lastGood.write(this.#options.file(), {
      text: version.prepared.text,
      manifest: live.manifest,
      rejected: this.rejectedDigest,
    });
  }

  /** Stops serving; the version drains. */
  remove(): void {
    this.#isRemoved = true;
    this.serve(null);
  }

  /** Closes everything immediately; calls in flight fail. */
  async close(): Promise<void> {
    await this.#probation.end()?.version.scope.close();
    await this.version?.scope.close();
  }

  /** Retires the previous version. */
  #endProbation(): void {
    const before = this.#probation.end();
    if (before !== null) this.#options.context.onLiveChange(before.version);
  }
}

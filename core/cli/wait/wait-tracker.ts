import { DIGEST } from '../../descriptor/identifiers.js';
import type { ListedModule } from '../../operations/status/module-struct.js';

interface WaitOutcome {
  readonly outcome: 'live' | 'rejected';
  readonly module: ListedModule;
}

const REJECTED: ReadonlySet<string> = new Set(['refused', 'stale', 'rolled_back']);

/**
 * A rejection within this time before the wait may still concern the awaited change: the host reads
 * a changed file within 0.1 s, and the wait may start later.
 */
const RECENT_MS = 2000;
/** How long an older rejection is checked again: a corrected file is read within a second. */
const RECHECK_MS = 1000;

interface Clock {
  now(): number;
}

/** Decides from successive lists of modules when a wait ends. */
export class WaitTracker {
  readonly #subject: string;
  readonly #isDigest: boolean;
  readonly #clock: Clock;
  readonly #startedAt: number;
  /** The state of each file at the first poll. */
  #before: ReadonlyMap<string, string> | null = null;
  #latest: readonly ListedModule[] = [];
  #clockSkewMs = 0;

  /** @param subject the name of a module, or a digest */
  constructor(subject: string, clock: Clock = Date) {
    this.#subject = subject;
    this.#isDigest = DIGEST.test(subject);
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** The last entry of the subject; `null` for none. */
  get latest(): ListedModule | null {
    return this.#latest.find((entry) => this.#isSubject(entry)) ?? null;
  }

  /**
   * Returns the outcome, or `null` to poll again.
   * @param clockSkewMs how far the host's clock is ahead
   */
  observe(modules: readonly ListedModule[], clockSkewMs = 0): WaitOutcome | null {
    this.#clockSkewMs = clockSkewMs;
    this.#latest = modules;
    this.#before ??= new Map(modules.map((module) => [module.file, describe(module)]));
    const live = modules.find((module) => module.state === 'live' && this.#isSubject(module));
    if (live !== undefined) return { outcome: 'live', module: live };
    const rejected = modules.find((module) => this.#isRejection(module));
    return rejected === undefined ? null : { outcome: 'rejected', module: rejected };
  }

  #isSubject({ name, digest, config_digest, file_digest }: ListedModule): boolean {
    if (!this.#isDigest) return name === this.#subject;
    return [digest, config_digest, file_digest].includes(this.#subject);
  }

  #isRejection(module: ListedModule): boolean {
    if (!REJECTED.has(module.state)) return false;
    if (this.#isNew(module) && this.#mayConcernSubject(module)) return true;
    const isAbout = this.#isSubject(module) || this.#isRejected(module);
    return isAbout && this.#clock.now() - this.#startedAt >= RECHECK_MS;
  }

  #mayConcernSubject(module: ListedModule): boolean {
    if (!this.#isDigest) return this.#isSubject(module);
    // Older hosts do not report the rejected digest.
    return module.rejected_digest === undefined || this.#isRejected(module);
  }

  /** Whether exactly the awaited digest was rejected. */
  #isRejected(module: ListedModule): boolean {
    if (!this.#isDigest) return false;
    const { rejected_digest, rejected_manifest_digest, rejected_config_digest } = module;
    return [rejected_digest, rejected_manifest_digest, rejected_config_digest].includes(
      this.#subject,
    );
  }

  /** Includes a changed reason, which does not change `since`. */
  #isNew(module: ListedModule): boolean {
    if (this.#before?.get(module.file) !== describe(module)) return true;
    return Date.parse(module.since) - this.#clockSkewMs >= this.#startedAt - RECENT_MS;
  }
}

function describe({ state, since, reason }: ListedModule): string {
  return JSON.stringify([state, since, reason]);
}

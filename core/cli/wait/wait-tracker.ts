import type { HostUnreachable } from '../client/host-client.js';
import type { ModuleEntry } from '../client/module-list.js';

export type WaitSubject =
  | { readonly kind: 'module'; readonly name: string }
  | { readonly kind: 'digest'; readonly digest: string };

/** The outcome of a wait; `module` is the entry that decided it. */
export type WaitOutcome =
  | { readonly outcome: 'live'; readonly module: ModuleEntry }
  | { readonly outcome: 'rejected'; readonly module: ModuleEntry }
  | {
      readonly outcome: 'timeout';
      /** The last entry of the subject, if any. */
      readonly module: ModuleEntry | null;
      /** The last error, if the host was unreachable at the end. */
      readonly unreachable: HostUnreachable | null;
    };

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
  readonly #subject: WaitSubject;
  readonly #clock: Clock;
  readonly #startedAt: number;
  /** The state of each file at the first poll. */
  #before: ReadonlyMap<string, string> | null = null;
  #latest: readonly ModuleEntry[] = [];
  #unreachable: HostUnreachable | null = null;
  #clockSkewMs = 0;

  constructor(subject: WaitSubject, clock: Clock = Date) {
    this.#subject = subject;
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /**
   * Returns the outcome, or `null` to poll again.
   * @param clockSkewMs how far the host's clock is ahead
   */
  observe(modules: readonly ModuleEntry[], clockSkewMs = 0): WaitOutcome | null {
    this.#unreachable = null;
    this.#clockSkewMs = clockSkewMs;
    this.#latest = modules;
    this.#before ??= new Map(modules.map((module) => [module.file, describe(module)]));
    const live = modules.find((module) => module.state === 'live' && this.#isSubject(module));
    if (live !== undefined) return { outcome: 'live', module: live };
    const rejected = modules.find((module) => this.#isRejection(module));
    return rejected === undefined ? null : { outcome: 'rejected', module: rejected };
  }

  recordUnreachable(error: HostUnreachable): void {
    this.#unreachable = error;
  }

  timeOut(): WaitOutcome {
    const module = this.#latest.find((entry) => this.#isSubject(entry)) ?? null;
    return { outcome: 'timeout', module, unreachable: this.#unreachable };
  }

  #isSubject({ name, digest, config_digest, file_digest }: ModuleEntry): boolean {
    if (this.#subject.kind === 'module') return name === this.#subject.name;
    return [digest, config_digest, file_digest].includes(this.#subject.digest);
  }

  #isRejection(module: ModuleEntry): boolean {
    if (!REJECTED.has(module.state)) return false;
    if (this.#isNew(module) && this.#mayConcernSubject(module)) return true;
    const isAbout = this.#isSubject(module) || this.#isRejected(module);
    return isAbout && this.#clock.now() - this.#startedAt >= RECHECK_MS;
  }

  /** Whether a new rejection may concern the subject. */
  #mayConcernSubject(module: ModuleEntry): boolean {
    if (this.#subject.kind === 'module') return this.#isSubject(module);
    // Older hosts do not report the rejected digest.
    return module.rejected_digest === undefined || this.#isRejected(module);
  }

  /** Whether exactly the awaited digest was rejected. */
  #isRejected(module: ModuleEntry): boolean {
    if (this.#subject.kind === 'module') return false;
    const { rejected_digest, rejected_manifest_digest, rejected_config_digest } = module;
    return [rejected_digest, rejected_manifest_digest, rejected_config_digest].includes(
      this.#subject.digest,
    );
  }

  /** Includes a changed reason, which does not change `since`. */
  #isNew(module: ModuleEntry): boolean {
    if (this.#before?.get(module.file) !== describe(module)) return true;
    return Date.parse(module.since) - this.#clockSkewMs >= this.#startedAt - RECENT_MS;
  }
}

function describe({ state, since, reason }: ModuleEntry): string {
  return JSON.stringify([state, since, reason]);
}

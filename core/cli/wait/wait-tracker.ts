import type { HostUnreachable } from '../client/host-client.js';
import type { ModuleEntry } from '../client/module-list.js';

export type WaitSubject =
  | { readonly kind: 'module'; readonly name: string }
  | { readonly kind: 'digest'; readonly digest: string };

/** How a wait ends; `module` is the entry that decided it. */
export type WaitOutcome =
  | { readonly outcome: 'live'; readonly module: ModuleEntry }
  | { readonly outcome: 'rejected'; readonly module: ModuleEntry }
  | {
      readonly outcome: 'timeout';
      /** What there is of the subject, if anything. */
      readonly module: ModuleEntry | null;
      /** The last error when the host did not answer at the end. */
      readonly unreachable: HostUnreachable | null;
    };

const REJECTED: ReadonlySet<string> = new Set(['refused', 'stale', 'rolled_back']);

/**
 * How far back a rejection may lie and still be about the change that is waited for: the host looks at a
 * changed file within a tenth of a second, and the wait may begin that much later.
 */
const LOOK_BACK_MS = 2000;
/** How long an older rejection is doubted: the host needs up to a second to see that it was mended. */
const DOUBT_MS = 1000;

interface Clock {
  now(): number;
}

/** Judges what the host says of its modules, look by look. */
export class WaitTracker {
  readonly #subject: WaitSubject;
  readonly #clock: Clock;
  readonly #startedAt: number;
  /** What was rejected, and why, at the first look. */
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
   * The end of the wait, or `null` to look again.
   * @param clockSkewMs by how much the host's clock is ahead of ours
   */
  see(modules: readonly ModuleEntry[], clockSkewMs = 0): WaitOutcome | null {
    this.#unreachable = null;
    this.#clockSkewMs = clockSkewMs;
    this.#latest = modules;
    this.#before ??= new Map(modules.map((module) => [module.file, describe(module)]));
    const live = modules.find((module) => module.state === 'live' && this.#isSubject(module));
    if (live !== undefined) return { outcome: 'live', module: live };
    const rejected = modules.find((module) => this.#isRejection(module));
    return rejected === undefined ? null : { outcome: 'rejected', module: rejected };
  }

  /** The host did not answer. */
  miss(error: HostUnreachable): void {
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
    if (this.#isNew(module) && this.#isToBeMinded(module)) return true;
    const isAbout = this.#isSubject(module) || this.#isRejected(module);
    return isAbout && this.#clock.now() - this.#startedAt >= DOUBT_MS;
  }

  /** Whether a rejection that has just come up may be that of the subject. */
  #isToBeMinded(module: ModuleEntry): boolean {
    if (this.#subject.kind === 'module') return this.#isSubject(module);
    // A host that does not say what it rejected: it may be any.
    return module.rejected_digest === undefined || this.#isRejected(module);
  }

  /** Whether it is the very text, manifest or both together that was rejected. */
  #isRejected(module: ModuleEntry): boolean {
    if (this.#subject.kind === 'module') return false;
    const { rejected_digest, rejected_manifest_digest, rejected_config_digest } = module;
    return [rejected_digest, rejected_manifest_digest, rejected_config_digest].includes(
      this.#subject.digest,
    );
  }

  /** A state keeps its `since` when only its reason changes, so that counts as well. */
  #isNew(module: ModuleEntry): boolean {
    if (this.#before?.get(module.file) !== describe(module)) return true;
    return Date.parse(module.since) - this.#clockSkewMs >= this.#startedAt - LOOK_BACK_MS;
  }
}

function describe({ state, since, reason }: ModuleEntry): string {
  return JSON.stringify([state, since, reason]);
}

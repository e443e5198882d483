/** Whether the caller still has the right under which something runs. */
export type Standing =
  | 'held'
  /** Its credential, which was valid at the start, has expired. */
  | 'expired'
  | 'withdrawn';

/** Something that runs under a right, and ends with it. */
export interface WatchedRight {
  /** @throws Error if it cannot be verified now. */
  readonly verify: () => Promise<Standing>;
  /** When the credential expires. Milliseconds since 1970; absent for never. */
  readonly expiresAt: number | undefined;
  /** Whether it also ends when the credential expires; otherwise an hour later. */
  readonly endsWithCredential: boolean;
  /** Called at most once. */
  readonly onLost: () => void;
}

/** All its times are on the monotonic clock. Milliseconds. */
interface Watch extends WatchedRight {
  dueAt: number;
  /** The last result of the authenticators. */
  verifiedAt: number;
  /** `null` until the credential has expired. */
  expiredAt: number | null;
}

/** The longest time between two checks of a right. Milliseconds. */
const RECHECK_MS = 30_000;
/** How long a body continues after its credential has expired: a download outlives short tokens. */
const EXPIRED_MS = 3_600_000;
/** How long anything continues while no authenticator responds. Milliseconds. */
const UNVERIFIED_MS = 600_000;
/** Checks that are due soon after each other are made together. Milliseconds. */
const MIN_TICK_MS = 50;

/**
 * Ends what runs under a right that is withdrawn. One timer serves everything that is watched. Its
 * times are those of a monotonic clock: setting the clock back must not put a check off.
 */
export class RightWatch {
  readonly #watches = new Set<Watch>();
  readonly #now: () => number;
  readonly #wallNow: () => number;
  #timer: NodeJS.Timeout | null = null;
  #tickAt = Number.POSITIVE_INFINITY;

  /**
   * @param now a monotonic clock. Milliseconds
   * @param wallNow the clock of credentials. Milliseconds since 1970
   */
  constructor(now = () => performance.now(), wallNow: () => number = Date.now) {
    this.#now = now;
    this.#wallNow = wallNow;
  }

  /** @returns a function that ends the checks */
  add(right: WatchedRight): () => void {
    const now = this.#now();
    const expiresAt =
      right.expiresAt === undefined ? undefined : now + right.expiresAt - this.#wallNow();
    const watch: Watch = { ...right, expiresAt, dueAt: 0, verifiedAt: now, expiredAt: null };
    this.#plan(watch, now);
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  /** Checks everything at once, without waiting until it is due. */
  async checkAll(): Promise<void> {
    await Promise.all(Array.from(this.#watches, (watch) => this.#check(watch)));
  }

  /** Sets when the right is checked again. */
  #plan(watch: Watch, now: number): void {
    const leftMs = watch.endsWithCredential ? (watch.expiresAt ?? Infinity) - now : Infinity;
    watch.dueAt = now + (leftMs > 0 ? Math.min(RECHECK_MS, leftMs) : RECHECK_MS);
    if (watch.dueAt < this.#tickAt) this.#start(watch.dueAt, now);
  }

  #start(tickAt: number, now: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#tickAt = tickAt;
    const delayMs = Math.max(MIN_TICK_MS, tickAt - now);
    this.#timer = setTimeout(() => this.#tick(), delayMs).unref();
  }

  #tick(): void {
    const now = this.#now();
    this.#timer = null;
    this.#tickAt = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const watch of this.#watches) {
      if (watch.dueAt > now) next = Math.min(next, watch.dueAt);
      else {
        // Planned again with its result.
        watch.dueAt = Number.POSITIVE_INFINITY;
        void this.#check(watch);
      }
    }
    if (next < this.#tickAt) this.#start(next, now);
  }

  async #check(watch: Watch): Promise<void> {
    const standing = await watch.verify().catch(() => null);
    if (!this.#watches.has(watch)) return;
    const now = this.#now();
    if (standing !== null) watch.verifiedAt = now;
    if (standing === 'expired') watch.expiredAt ??= Math.min(watch.expiresAt ?? now, now);
    if (!hasEnded(watch, standing, now)) {
      this.#plan(watch, now);
      return;
    }
    this.#watches.delete(watch);
    watch.onLost();
  }
}

function hasEnded(
  { endsWithCredential, expiredAt, verifiedAt }: Watch,
  standing: Standing | null,
  now: number,
): boolean {
  if (standing === 'withdrawn') return true;
  if (standing === 'expired' && endsWithCredential) return true;
  if (expiredAt !== null && now - expiredAt >= EXPIRED_MS) return true;
  return now - verifiedAt >= UNVERIFIED_MS;
}

/** The rights of this process. */
export const rights = new RightWatch();

import { LRUCache } from 'lru-cache';

/** `undecided`: an authenticator did not answer, or it was no credential. */
export type AttemptOutcome = 'accepted' | 'rejected' | 'undecided';

/** A credential that may be verified. */
export interface CredentialAttempt {
  /** Call it once. */
  settle(outcome: AttemptOutcome): void;
}

export type Admission =
  | { readonly attempt: CredentialAttempt }
  /** The attempt is rejected: too many others were. */
  | { readonly attempt: null; readonly waitMs: number };

/** Counts attempts to authenticate, over all processes of the host. */
export interface AttemptLedger {
  /**
   * @param credential a keyed hash of it and of the network
   * @returns a promise where it has to wait for those that are being verified
   */
  begin(network: string, credential: string): Admission | Promise<Admission>;
}

/**
 * About 2 MB for each cache. `maxSize` is used because `max` would allocate all entries at once.
 */
export const NETWORK_CACHE_LIMITS = { maxSize: 10_000, sizeCalculation: () => 1 };
/** How long an accepted credential is exempt from the limit of its network. Milliseconds. */
export const ACCEPTED_MS = 10 * 60_000;
const WINDOW_MS = 60_000;

interface Window {
  rejected: number;
  /** Number of attempts that are being verified. */
  running: number;
  endsAt: number;
  /** Attempts that wait, because all running ones may be rejected. */
  waiting: (() => void)[];
}

/** The attempts of all networks. The least recently used network is removed first. */
export class AttemptCounts implements AttemptLedger {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #windows = new LRUCache<string, Window>({
    ...NETWORK_CACHE_LIMITS,
    dispose: (window) => wake(window),
  });
  /** The last time that each credential was accepted. */
  readonly #accepted = new LRUCache<string, number>(NETWORK_CACHE_LIMITS);

  /** @param limit how many may be rejected in a minute */
  constructor(limit: number, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  begin(network: string, credential: string): Admission | Promise<Admission> {
    const acceptedAt = this.#accepted.get(credential) ?? Number.NEGATIVE_INFINITY;
    if (this.#now() - acceptedAt < ACCEPTED_MS) {
      return { attempt: { settle: (outcome) => this.note(network, credential, outcome) } };
    }
    const window = this.#findWindow(network);
    if (window.rejected >= this.#limit) {
      return { attempt: null, waitMs: window.endsAt - this.#now() };
    }
    if (window.rejected + window.running >= this.#limit) {
      return new Promise((resolve) => {
        window.waiting.push(() => resolve(this.begin(network, credential)));
      });
    }
    window.running += 1;
    const settle = (outcome: AttemptOutcome) => {
      window.running -= 1;
      this.note(network, credential, outcome);
      wake(window);
    };
    return { attempt: { settle } };
  }

  /** Records the result of a credential that was accepted before. */
  note(network: string, credential: string, outcome: AttemptOutcome): void {
    if (outcome === 'undecided') return;
    if (outcome === 'accepted') {
      this.#accepted.set(credential, this.#now());
      return;
    }
    this.#accepted.delete(credential);
    const window = this.#findWindow(network);
    if (window.rejected === 0) window.endsAt = this.#now() + WINDOW_MS;
    window.rejected += 1;
  }

  #findWindow(network: string): Window {
    let window = this.#windows.get(network);
    if (window === undefined) {
      window = { rejected: 0, running: 0, endsAt: 0, waiting: [] };
      this.#windows.set(network, window);
    }
    if (window.rejected > 0 && this.#now() >= window.endsAt) window.rejected = 0;
    return window;
  }
}

function wake(window: Window): void {
  for (const resume of window.waiting.splice(0)) resume();
}

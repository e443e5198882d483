import type { Cancellation } from '../../core/contract/index.js';
import { createAbortFailure } from './failures.js';

/** How long calls wait for a provider that is starting, before they fail. */
export const START_WAIT_MS = 2_000;

/** Something that calls wait for before they are sent. */
export class Gate {
  readonly opened: Promise<void>;
  /** A set, because a promise would keep each call that has left until it opens. */
  readonly #waiting = new Set<() => void>();
  #isOpen = false;

  constructor() {
    this.opened = new Promise((resolve) => this.#waiting.add(resolve));
  }

  open(): void {
    for (const pass of [...this.#waiting]) pass();
    this.#isOpen = true;
  }

  /**
   * Resolves when it opens, or after `timeoutMs`.
   * @throws ProviderFailure when the signal is aborted first.
   */
  wait(signal: Cancellation, timeoutMs?: number): Promise<void> {
    if (this.#isOpen) return this.opened;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(pass);
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const pass = () => {
        leave();
        resolve();
      };
      const abort = {
        handleEvent: () => {
          leave();
          reject(createAbortFailure(signal.reason, 0, 'connecting'));
        },
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(pass, timeoutMs);
      signal.addEventListener('abort', abort);
      this.#waiting.add(pass);
    });
  }
}

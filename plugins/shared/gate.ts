import type { Cancellation } from '../../core/contract/index.js';
import { createAbortFailure } from './failures.js';

/** Something that calls wait for before they are sent. */
export class Gate {
  readonly opened: Promise<void>;
  #open: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  /**
   * Resolves when it opens, or after `timeoutMs`.
   * @throws ProviderFailure when the signal is aborted first.
   */
  wait(signal: Cancellation, timeoutMs?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
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
      void this.opened.then(pass);
    });
  }
}

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

  /** @throws ProviderFailure when the signal is aborted first. */
  wait(signal: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = {
        handleEvent: () => reject(createAbortFailure(signal.reason, 0, 'connecting')),
      };
      signal.addEventListener('abort', abort);
      void this.opened.then(() => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
    });
  }
}

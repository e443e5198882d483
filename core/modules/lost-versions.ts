import type { Log } from '../contract/index.js';
import type { LastGoodKeeper } from './last-good.js';
import type { Leadership } from './leadership.js';

interface LostVersionsOptions {
  readonly lastGood: LastGoodKeeper;
  readonly leadership: Leadership;
  readonly log: Log;
  /** Stores the last good version of every module again. */
  readonly writeAgain: () => void;
}

/**
 * Notices that the folder of last good versions was removed, or replaced by another. Without that only later
 * changes would be written, and a restart would lack the other modules.
 */
export class LostVersions {
  readonly #options: LostVersionsOptions;
  #folder: string | null = null;

  constructor(options: LostVersionsOptions) {
    this.#options = options;
  }

  /** Called at each poll. Never rejects. */
  async check(): Promise<void> {
    const { lastGood, leadership, log, writeAgain } = this.#options;
    const before = this.#folder;
    this.#folder = await lastGood.identifyFolder();
    if (before === null || before === this.#folder || !leadership.leads) return;
    log.warn({}, 'last good versions removed: writing them again');
    writeAgain();
  }
}

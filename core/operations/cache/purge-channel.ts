import type { Purge } from './entry-index.js';

/** Forwards purges between the processes that cache responses of the same modules. */
export interface PurgeChannel {
  /**
   * Announces a purge to all others, and returns at once. If it is lost, the entries remain until
   * they expire.
   */
  announce(purge: Purge): void;
  /** @param listener called with purges of others, and with `null` if some may have been lost */
  onPurge(listener: (purge: Purge | null) => void): void;
}

/** The channel of a process without others. */
export const SOLE_PURGES: PurgeChannel = { announce: () => {}, onPurge: () => {} };

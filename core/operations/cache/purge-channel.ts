import type { Purge } from './entry-index.js';

/** Carries purges between the processes that keep responses of the same modules. */
export interface PurgeChannel {
  /** To all others. Returns at once; what is lost on the way only lives until it expires. */
  announce(purge: Purge): void;
  /** @param listener called with purges of others, and with `null` where some may have been lost */
  onPurge(listener: (purge: Purge | null) => void): void;
}

/** Of a process without others. */
export const NO_OTHERS: PurgeChannel = { announce: () => {}, onPurge: () => {} };

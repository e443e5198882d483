import type { Processes } from '../../processes.js';
import type { Purge } from './entry-index.js';
import { PurgeBatch } from './purge-batch.js';

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

export function sharePurges(processes: Pick<Processes, 'channel'>): PurgeChannel {
  const listeners: ((purge: Purge) => void)[] = [];
  const send = processes.channel<readonly Purge[]>('purges', (purges) => {
    for (const purge of purges) for (const listener of listeners) listener(purge);
  });
  const batch = new PurgeBatch(send);
  return {
    announce: (purge) => batch.add(purge),
    onPurge: (listener) => void listeners.push(listener),
  };
}

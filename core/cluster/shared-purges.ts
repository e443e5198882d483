import type { Purge } from '../operations/cache/entry-index.js';
import { PurgeBatch } from '../operations/cache/purge-batch.js';
import type { PurgeChannel } from '../operations/cache/purge-channel.js';
import type { PrimaryChannel } from './primary-channel.js';

/** Announces purges to the other workers, and receives theirs. */
export class WorkerPurges implements PurgeChannel {
  readonly #channel: PrimaryChannel;
  readonly #batch: PurgeBatch;

  constructor(channel: PrimaryChannel) {
    this.#channel = channel;
    this.#batch = new PurgeBatch((purges) => channel.send({ type: 'purge', purges }));
  }

  announce(purge: Purge): void {
    this.#batch.add(purge);
  }

  onPurge(listener: (purge: Purge) => void): void {
    this.#channel.on('purge', ({ purges }) => {
      for (const purge of purges) listener(purge);
    });
  }
}

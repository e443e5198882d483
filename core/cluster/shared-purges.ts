import type { Purge } from '../operations/cache/entry-index.js';
import type { PurgeChannel } from '../operations/cache/purge-channel.js';
import type { PrimaryChannel } from './primary-channel.js';

/** Batches the purges of a busy writer: a message for each would cost more than the write. */
const REPORT_DELAY_MS = 20;
/** Of more paths in one batch, the whole module is purged. */
const MAX_PATHS = 1000;

/** Purges of one module that are still to be announced, by path. */
type ModulePurges = Map<string, Purge>;

/** Announces purges to the other workers, and receives theirs. */
export class WorkerPurges implements PurgeChannel {
  readonly #channel: PrimaryChannel;
  #unsent = new Map<string, ModulePurges>();
  #timer: NodeJS.Timeout | null = null;

  constructor(channel: PrimaryChannel) {
    this.#channel = channel;
  }

  announce(purge: Purge): void {
    const { module, path, isPrefix } = purge;
    const ofModule: ModulePurges = this.#unsent.get(module) ?? new Map();
    this.#unsent.set(module, ofModule);
    ofModule.set(`${isPrefix}${path}`, purge);
    if (path === null || ofModule.size > MAX_PATHS) {
      const whole = { module, path: null, isPrefix: false };
      this.#unsent.set(module, new Map([['', whole]]));
    }
    this.#timer ??= setTimeout(() => this.#send(), REPORT_DELAY_MS).unref();
  }

  onPurge(listener: (purge: Purge) => void): void {
    this.#channel.on('purge', ({ purges }) => {
      for (const purge of purges) listener(purge);
    });
  }

  #send(): void {
    this.#timer = null;
    const purges = [...this.#unsent.values()].flatMap((ofModule) => [...ofModule.values()]);
    this.#unsent = new Map();
    this.#channel.send({ type: 'purge', purges });
  }
}

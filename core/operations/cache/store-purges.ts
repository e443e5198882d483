import { array, boolean, is, nullable, string, type } from 'superstruct';
import type { Store } from '../../store/store.js';
import type { Purge } from './entry-index.js';
import { createWholePurge, PurgeBatch } from './purge-batch.js';
import type { PurgeChannel } from './purge-channel.js';

/** PostgreSQL accepts less than 8,000 bytes, and the store adds some. */
const MAX_NOTICE_BYTES = 7000;
/** The delay before purges are sent again to an unavailable store. */
const RETRY_MS = 1000;
const PREFIX = 'purge ';

const purgeList = array(type({ module: string(), path: nullable(string()), isPrefix: boolean() }));

/** Announces purges to every process that shares the store, including those of the same host. */
export class StorePurges implements PurgeChannel {
  readonly #store: Pick<Store, 'sendNotice' | 'onNotice'>;
  readonly #sameHost: PurgeChannel;
  readonly #batch = new PurgeBatch((purges) => void this.#send(purges));

  constructor(store: Pick<Store, 'sendNotice' | 'onNotice'>, sameHost: PurgeChannel) {
    this.#store = store;
    this.#sameHost = sameHost;
  }

  announce(purge: Purge): void {
    this.#sameHost.announce(purge);
    this.#batch.add(purge);
  }

  onPurge(listener: (purge: Purge | null) => void): void {
    this.#sameHost.onPurge(listener);
    this.#store.onNotice((notice) => {
      if (notice === null) listener(null);
      else if (notice.startsWith(PREFIX)) {
        for (const purge of parsePurges(notice.slice(PREFIX.length))) listener(purge);
      }
    });
  }

  /** Never rejects. */
  async #send(purges: readonly Purge[]): Promise<void> {
    for (const group of groupPurges(purges)) {
      try {
        await this.#store.sendNotice(`${PREFIX}${JSON.stringify(group)}`);
      } catch {
        // The store reports why it is unavailable.
        for (const purge of group) this.#batch.add(purge, RETRY_MS);
      }
    }
  }
}

/** Groups that fit into one notice each. A path that is too long purges its whole module. */
function* groupPurges(purges: readonly Purge[]): Generator<readonly Purge[]> {
  let group: Purge[] = [];
  let bytes = 0;
  for (const original of purges) {
    const isLong = sizeOf(original) > MAX_NOTICE_BYTES;
    const purge = isLong ? createWholePurge(original.module) : original;
    bytes += sizeOf(purge);
    if (bytes > MAX_NOTICE_BYTES) {
      yield group;
      group = [];
      bytes = sizeOf(purge);
    }
    group.push(purge);
  }
  if (group.length > 0) yield group;
}

function sizeOf(purge: Purge): number {
  return Buffer.byteLength(JSON.stringify(purge)) + 1;
}

/**
 * Parses purges; an unknown format of another version becomes `null`, because anything may be
 * outdated.
 */
function parsePurges(text: string): readonly (Purge | null)[] {
  try {
    const purges: unknown = JSON.parse(text);
    return is(purges, purgeList) ? purges : [null];
  } catch {
    return [null];
  }
}

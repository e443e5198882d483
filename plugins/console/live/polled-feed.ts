import type { Actor, HostApi, Log } from '../../../core/contract/index.js';
import { hasScope } from '../api/scopes.js';

const TICK_MS = 2000;

/** A stream that follows a feed. */
export interface Follower {
  /** Returns the actor of the stream with its current rights. */
  readActor(): Actor;
  send(events: string): void;
}

interface PolledFeedOptions {
  readonly host: Pick<HostApi, 'request'>;
  readonly log: Log;
  /** The scope that followers need. */
  readonly scope: string;
}

/**
 * Reads a route of the host once for all streams that follow it. All actors with the scope see the
 * same data.
 */
export abstract class PolledFeed {
  readonly #options: PolledFeedOptions;
  /** The followers with their start times. */
  readonly #followers = new Map<Follower, string>();
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;

  constructor(options: PolledFeedOptions) {
    this.#options = options;
  }

  /** @returns a function that removes the follower */
  follow(follower: Follower): () => void {
    const now = new Date().toISOString();
    if (this.#followers.size === 0) {
      this.begin(now);
      this.#timer = setInterval(() => void this.#tick(), TICK_MS).unref();
    }
    this.#followers.set(follower, now);
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size === 0) clearInterval(this.#timer);
    };
  }

  /** Called before the first follower; then the feed is read. */
  protected abstract begin(now: string): void;

  /** Reads and sends new data. */
  protected abstract update(): Promise<void>;

  /**
   * Tries another actor if one has reached its rate limit. @returns `null` if the host rejects all
   * of them
   */
  protected async read<T>(target: string): Promise<T | null> {
    for (const actor of this.#listReaders()) {
      const response = await this.#options.host.request(actor, { target });
      const value = (await response.json()) as T;
      if (response.status === 200) return value;
    }
    return null;
  }

  /** Lists the followers that currently have the scope. */
  protected listEntitled(): (readonly [follower: Follower, beganAt: string])[] {
    const { scope } = this.#options;
    return [...this.#followers].filter(([{ readActor }]) => hasScope(readActor(), scope));
  }

  async #tick(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await this.update();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'console could not read the host');
    } finally {
      this.#isReading = false;
    }
  }

  #listReaders(): Iterable<Actor> {
    const actors = this.listEntitled().map(([{ readActor }]) => readActor());
    return new Map(actors.map((actor) => [`${actor.kind}:${actor.id}`, actor])).values();
  }
}

import type { Actor, HostApi, Log } from '../../../core/contract/index.js';
import { CALLS_SCOPE, hasScope } from '../api/scopes.js';
import { encodeEvent } from './event-stream.js';

const TICK_MS = 2000;
const PAGE = 200;
/** Calls of one moment that were sent already. */
const MAX_SEEN = 1000;

interface Call {
  readonly at: string;
  readonly request_id: string;
  readonly trace_id: string | null;
  readonly duration_ms: number;
}

interface Follower {
  /** As whom the stream was opened, with the rights of now. */
  readActor(): Actor;
  send(events: string): void;
}

/** Reads new calls once for all streams that want them. Everyone with the scope sees the same. */
export class CallFeed {
  readonly #host: Pick<HostApi, 'request'>;
  readonly #log: Log;
  /** With the time at which each began: earlier calls are not sent. */
  readonly #followers = new Map<Follower, string>();
  #timer: NodeJS.Timeout | undefined;
  #since = '';
  #seen: ReadonlySet<string> = new Set();
  #isReading = false;

  constructor(host: Pick<HostApi, 'request'>, log: Log) {
    this.#host = host;
    this.#log = log;
  }

  /** @returns removes the follower. */
  follow(follower: Follower): () => void {
    const now = new Date().toISOString();
    if (this.#followers.size === 0) {
      this.#since = now;
      this.#timer = setInterval(() => void this.#tick(), TICK_MS).unref();
    }
    this.#followers.set(follower, now);
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size === 0) clearInterval(this.#timer);
    };
  }

  async #tick(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const calls = await this.#read();
      if (calls.length > 0) this.#send(calls);
    } catch (error) {
      this.#log.warn({ err: error }, 'console could not read calls');
    } finally {
      this.#isReading = false;
    }
  }

  /** Oldest first. One actor may be at its limit, so that another one reads. */
  async #read(): Promise<readonly Call[]> {
    const target = `/calls?limit=${PAGE}&since=${encodeURIComponent(this.#since)}`;
    for (const actor of this.#listReaders()) {
      const response = await this.#host.request(actor, { target });
      const { calls } = (await response.json()) as { readonly calls?: readonly Call[] };
      if (response.status === 200 && calls !== undefined) return this.#keepNew(calls);
    }
    return [];
  }

  #listReaders(): Iterable<Actor> {
    const actors = [...this.#followers.keys()].map((follower) => follower.readActor());
    const readers = actors.filter((actor) => hasScope(actor, CALLS_SCOPE));
    return new Map(readers.map((actor) => [`${actor.kind}:${actor.id}`, actor])).values();
  }

  #keepNew(calls: readonly Call[]): readonly Call[] {
    const found = calls.filter((call) => !this.#seen.has(nameOf(call))).reverse();
    const newest = calls[0];
    if (newest !== undefined) {
      this.#since = newest.at;
      const ofThatTime = calls.filter(({ at }) => at === newest.at).slice(0, MAX_SEEN);
      this.#seen = new Set(ofThatTime.map(nameOf));
    }
    return found;
  }

  #send(calls: readonly Call[]): void {
    const all = encodeEvent('calls', { calls });
    const first = calls[0]?.at ?? '';
    for (const [{ readActor, send }, beganAt] of [...this.#followers]) {
      if (!hasScope(readActor(), CALLS_SCOPE)) continue;
      if (first >= beganAt) {
        send(all);
        continue;
      }
      const own = calls.filter(({ at }) => at >= beganAt);
      if (own.length > 0) send(encodeEvent('calls', { calls: own }));
    }
  }
}

function nameOf({ at, request_id, trace_id, duration_ms }: Call): string {
  return `${at} ${request_id} ${trace_id} ${duration_ms}`;
}

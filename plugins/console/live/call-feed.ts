import type { Actor, HostApi } from '../../../core/contract/index.js';

const PAGE = 200;
/** Calls of one moment that were sent already. */
const MAX_SEEN = 1000;

interface Call {
  readonly at: string;
  readonly request_id: string;
  readonly trace_id: string | null;
  readonly duration_ms: number;
}

/** Reads the calls that are new since the last time, as the actor of a session. */
export class CallFeed {
  readonly #host: Pick<HostApi, 'request'>;
  #since = new Date().toISOString();
  #seen: ReadonlySet<string> = new Set();

  constructor(host: Pick<HostApi, 'request'>) {
    this.#host = host;
  }

  /** Oldest first; empty for an actor who may not read them. */
  async read(actor: Actor, signal: AbortSignal): Promise<readonly unknown[]> {
    const target = `/calls?limit=${PAGE}&since=${encodeURIComponent(this.#since)}`;
    const response = await this.#host.request(actor, { target, signal });
    const body = (await response.json()) as { readonly calls?: readonly Call[] };
    if (response.status !== 200 || body.calls === undefined) return [];
    const found = body.calls.filter((call) => !this.#seen.has(nameOf(call))).reverse();
    const newest = body.calls[0];
    if (newest !== undefined) {
      this.#since = newest.at;
      const ofThatTime = body.calls.filter(({ at }) => at === newest.at).slice(0, MAX_SEEN);
      this.#seen = new Set(ofThatTime.map(nameOf));
    }
    return found;
  }
}

function nameOf({ at, request_id, trace_id, duration_ms }: Call): string {
  return `${at} ${request_id} ${trace_id} ${duration_ms}`;
}

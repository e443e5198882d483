import type { HostApi, Log } from '../../../core/contract/index.js';
import { CALLS_SCOPE } from '../api/scopes.js';
import { encodeEvent } from './event-stream.js';
import { PolledFeed } from './polled-feed.js';

const PAGE = 200;
/** The maximum number of known calls of the last moment. */
const MAX_SEEN = 1000;

interface Call {
  readonly at: string;
  readonly request_id: string;
  readonly trace_id: string | null;
  readonly duration_ms: number;
}

/** Sends new calls. */
export class CallFeed extends PolledFeed {
  #since = '';
  #seen: ReadonlySet<string> = new Set();

  constructor(host: Pick<HostApi, 'request'>, log: Log) {
    super({ host, log, scope: CALLS_SCOPE });
  }

  protected override begin(now: string): void {
    this.#since = now;
  }

  protected override async update(): Promise<void> {
    const target = `/calls?limit=${PAGE}&since=${encodeURIComponent(this.#since)}`;
    const listed = await this.read<{ readonly calls: readonly Call[] }>(target);
    // Oldest first.
    const calls = this.#keepNew(listed?.calls ?? []);
    if (calls.length > 0) this.#send(calls);
  }

  #keepNew(calls: readonly Call[]): readonly Call[] {
    const newCalls = calls.filter((call) => !this.#seen.has(nameOf(call))).reverse();
    const newest = calls[0];
    if (newest !== undefined) {
      this.#since = newest.at;
      const ofThatTime = calls.filter(({ at }) => at === newest.at).slice(0, MAX_SEEN);
      this.#seen = new Set(ofThatTime.map(nameOf));
    }
    return newCalls;
  }

  #send(calls: readonly Call[]): void {
    const all = encodeEvent('calls', { calls });
    const first = calls[0]?.at ?? '';
    for (const [{ send }, beganAt] of this.listEntitled()) {
      // Calls from before the stream are not sent.
      if (first >= beganAt) {
        send(all);
        continue;
      }
      const later = calls.filter(({ at }) => at >= beganAt);
      if (later.length > 0) send(encodeEvent('calls', { calls: later }));
    }
  }
}

function nameOf({ at, request_id, trace_id, duration_ms }: Call): string {
  return `${at} ${request_id} ${trace_id} ${duration_ms}`;
}

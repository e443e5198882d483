import type { HostApi, Log } from '../../../core/contract/index.js';
import { APPROVALS_SCOPE } from '../api/scopes.js';
import { encodeEvent } from './event-stream.js';
import { type Follower, PolledFeed } from './polled-feed.js';

const TARGET = '/approvals?limit=1000';

/** Sends the requests for approval whenever they change, and to each new stream. */
export class ApprovalFeed extends PolledFeed {
  #last = '';
  #informed = new WeakSet<Follower>();

  constructor(host: Pick<HostApi, 'request'>, log: Log) {
    super({ host, log, scope: APPROVALS_SCOPE });
  }

  protected override begin(): void {
    this.#last = '';
  }

  protected override async update(): Promise<void> {
    const listed = await this.read<{ readonly approvals: readonly unknown[] }>(TARGET);
    if (listed === null) return;
    const event = encodeEvent('approvals', listed);
    if (event !== this.#last) this.#informed = new WeakSet();
    this.#last = event;
    for (const [follower] of this.listEntitled()) {
      if (this.#informed.has(follower)) continue;
      this.#informed.add(follower);
      follower.send(event);
    }
  }
}

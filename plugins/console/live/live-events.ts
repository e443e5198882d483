import { randomUUID } from 'node:crypto';
import {
  type HostApi,
  isSurfaceError,
  type Log,
  type ModuleSnapshot,
  type SurfaceCall,
  SurfaceError,
} from '../../../core/contract/index.js';
import { hasScope, MODULES_SCOPE } from '../api/scopes.js';
import type { EndReason } from '../sessions/end-reasons.js';
import type { Session, Sessions } from '../sessions/sessions.js';
import { ApprovalFeed } from './approval-feed.js';
import { CallFeed } from './call-feed.js';
import { BrowserStream, encodeEvent } from './event-stream.js';
import type { FeedUpdate, HostFeed } from './host-feed.js';

const TICK_MS = 2000;
/** A page detects a missed change within this time. */
const HEARTBEAT_MS = 4000;
const RETRY_MS = 2000;
/**
 * The maximum number of tabs of one actor, over all sessions: the session of each is read every two
 * seconds.
 */
const MAX_PER_ACTOR = 20;

const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' };

/** A new value for each start, after which pages read everything again. */
const BOOT = randomUUID();

interface LiveEventsOptions {
  readonly sessions: Sessions;
  readonly feed: HostFeed;
  readonly host: Pick<HostApi, 'request'>;
  readonly log: Log;
  readonly version: string;
}

/** The events of a stream besides the state of the host. */
interface SubscribedEvents {
  readonly calls: boolean;
  readonly approvals: boolean;
}

/**
 * `GET /console/api/events`: changes of modules, counts, samples, new calls and requests for
 * approval.
 */
export class LiveEvents {
  readonly #options: LiveEventsOptions;
  readonly #calls: CallFeed;
  readonly #approvals: ApprovalFeed;
  /** The number of open streams by kind and id of the actor. */
  readonly #open = new Map<string, number>();

  constructor(options: LiveEventsOptions) {
    this.#options = options;
    this.#calls = new CallFeed(options.host, options.log);
    this.#approvals = new ApprovalFeed(options.host, options.log);
  }

  /**
   * @param cookie the cookie of the session, which is checked repeatedly while the stream is open
   */
  open(session: Session, cookie: string, selection: SubscribedEvents, call: SurfaceCall): Response {
    const { key } = session;
    const actor = `${session.actor.kind}:${session.actor.id}`;
    const count = this.#open.get(actor) ?? 0;
    if (count >= MAX_PER_ACTOR) {
      throw new SurfaceError('rate_limited', 'the user has too many open streams', {
        nextActions: ['close other pages of the console'],
        headers: { 'retry-after': '10' },
      });
    }
    this.#open.set(actor, count + 1);
    const undo: (() => void)[] = [() => this.#release(actor)];
    const stream = new BrowserStream(HEADERS, () => {
      for (const end of undo.splice(0)) end();
    });
    const { signal } = call;
    signal.addEventListener('abort', () => stream.close(), { once: true });
    const { sessions, feed, version } = this.#options;
    const end = (reason: EndReason) => {
      stream.send('session', { ended: reason });
      stream.close();
    };
    undo.push(sessions.onEnd(key, end));
    undo.push(feed.follow((update) => sendUpdate(stream, current, update)));
    let current = session;
    let isOpen = true;
    let last: NodeJS.Timeout | undefined;
    const endInTime = () => {
      clearTimeout(last);
      const leftMs = current.record.endsAt - Date.now();
      // A timer may fire a millisecond early.
      if (leftMs < TICK_MS) last = setTimeout(tick, Math.max(0, leftMs) + 1);
    };
    const tick = () => {
      // Asked now, the store would lack the session as if it had been revoked.
      if (Date.now() >= current.record.endsAt) return end('expired');
      void this.#tick(stream, cookie, call).then((verified) => {
        if (!isOpen) return;
        if (verified === null && sessions.hasLapsed(current)) return end('expired');
        current = verified ?? current;
        endInTime();
      });
    };
    const timer = setInterval(tick, TICK_MS);
    endInTime();
    undo.push(() => {
      isOpen = false;
      clearInterval(timer);
      clearTimeout(last);
    });
    const follower = { readActor: () => current.actor, send: stream.sendText };
    if (selection.calls) undo.push(this.#calls.follow(follower));
    if (selection.approvals) undo.push(this.#approvals.follow(follower));
    stream.retry(RETRY_MS);
    stream.send('hello', { at: Date.now(), version, boot: BOOT });
    const heartbeat = setInterval(() => {
      const list = hasScope(current.actor, MODULES_SCOPE) ? feed.listHash : null;
      stream.send('alive', { list });
    }, HEARTBEAT_MS);
    undo.push(() => clearInterval(heartbeat));
    // The client has disconnected during the check: no event follows.
    if (signal.aborted) stream.close();
    return stream.response;
  }

  /** Checks the session. Never rejects. @returns the session; `null` if unknown. */
  async #tick(stream: BrowserStream, cookie: string, call: SurfaceCall): Promise<Session | null> {
    let session: Session | null = null;
    try {
      // Does not count as use: an open page must not prolong the session.
      session = await this.#options.sessions.find(cookie, false, call);
      if (session === null) stream.close();
    } catch (error) {
      // While the store or an authenticator does not respond, the stream stays open until the
      // session lapses.
      if (!isSurfaceError(error) && !call.signal.aborted)
        this.#options.log.warn({ err: error }, 'console stream failed');
    }
    return session;
  }

  #release(actor: string): void {
    const count = (this.#open.get(actor) ?? 1) - 1;
    if (count <= 0) this.#open.delete(actor);
    else this.#open.set(actor, count);
  }
}

function sendUpdate(stream: BrowserStream, { actor }: Session, update: FeedUpdate): void {
  if (hasScope(actor, MODULES_SCOPE)) stream.sendText(encodeUpdate(update));
}

/** Shared by all streams; its size depends on the changes only. */
const encoded = new WeakMap<FeedUpdate, string>();

function encodeUpdate(update: FeedUpdate): string {
  let text = encoded.get(update);
  if (text === undefined) {
    const { at, changed, removed, counts, sample } = update;
    const modules = { changed: changed.map(describeModule), removed };
    text = [
      changed.length + removed.length > 0 ? encodeEvent('modules', modules) : '',
      counts.size > 0 ? encodeEvent('counts', { at, modules: Object.fromEntries(counts) }) : '',
      sample === null ? '' : encodeEvent('sample', sample),
    ].join('');
    encoded.set(update, text);
  }
  return text;
}

function describeModule(snapshot: ModuleSnapshot) {
  const { manifestDigest, configDigest, counts, manifest: _, ...module } = snapshot;
  const { inFlight, ...others } = counts;
  return {
    ...module,
    digest: manifestDigest,
    config_digest: configDigest,
    counts: { ...others, in_flight: inFlight },
  };
}

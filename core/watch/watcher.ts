import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';

/** The interval of polls, which find changes without an event, such as those of a network file system. */
const POLL_MS = 2000;
/** Searches take at most a tenth of the time, regardless of the number of files and events. */
const SEARCH_SHARE = 10;
/** A file is found twice before it is used: it must not wait long for either. */
const MAX_REST_MS = 1000;
/** Debounce: file events arrive in bursts. */
const EVENT_DELAY_MS = 20;

interface WatcherOptions {
  /**
   * Checks for changes. Checks do not overlap.
   * @param isPoll whether changes without an event count too
   * @param endSearch called when the changes are found; only the time until then decides the pause
   * @returns the milliseconds until the next check; `null` to wait for an event or the next poll
   */
  readonly check: (isPoll: boolean, endSearch: () => void) => Promise<number | null>;
  /**
   * The names of the only files that count: writes to others in their folders, such as a log, cause
   * no check. Default: all files count.
   */
  readonly names?: ReadonlySet<string> | undefined;
  /** Called with errors of `check`. Watching continues. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between polls, default 2000. */
  readonly pollMs?: number | undefined;
}

interface WatchedFolder {
  /** Device and inode: a folder that was replaced is watched again. */
  readonly identity: string;
  readonly watcher: FSWatcher;
}

/**
 * Decides when to check files: after any event in the watched folders, and at every poll. An event
 * only indicates that something may have changed.
 */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #pollMs: number;
  readonly #watched = new Map<string, WatchedFolder>();
  #folders: ReadonlySet<string> = new Set();
  #hasNewFolders = false;
  /** Whether an event occurred since the last check began. */
  #hasEvent = false;
  #timer: NodeJS.Timeout | undefined;
  #checkAt = Number.POSITIVE_INFINITY;
  #pollAt = 0;
  #checking: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#pollMs = options.pollMs ?? POLL_MS;
  }

  /** Sets the watched folders. Missing folders are watched once they exist. */
  follow(folders: Iterable<string>): void {
    const next = new Set(folders);
    for (const folder of next) if (!this.#folders.has(folder)) this.#hasNewFolders = true;
    this.#folders = next;
  }

  start(): void {
    this.pollSoon();
  }

  pollSoon(): void {
    this.#pollAt = 0;
    this.#checkSoon();
  }

  #checkSoon(): void {
    this.#hasEvent = true;
    if (this.#checking === null) this.#schedule(EVENT_DELAY_MS);
  }

  /** Resolves when the current check has ended. No other check follows. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const folder of this.#watched.keys()) this.#unwatch(folder);
    await this.#checking;
  }

  /** Keeps an earlier scheduled check: endless events must not postpone it. */
  #schedule(delayMs: number): void {
    const checkAt = performance.now() + delayMs;
    if (this.#isClosed || this.#checkAt <= checkAt) return;
    clearTimeout(this.#timer);
    this.#checkAt = checkAt;
    this.#timer = setTimeout(() => {
      this.#checkAt = Number.POSITIVE_INFINITY;
      this.#checking = this.#check();
    }, delayMs).unref();
  }

  /** Never rejects, so that the next check follows. */
  async #check(): Promise<void> {
    const startedAt = performance.now();
    const isPoll = startedAt >= this.#pollAt;
    // A later call of `pollSoon` makes the next check a poll.
    if (isPoll) this.#pollAt = Number.POSITIVE_INFINITY;
    let againAfterMs: number | null = null;
    let foundAt: number | null = null;
    const endSearch = () => {
      foundAt = performance.now();
    };
    try {
      againAfterMs = await this.#checkNow(isPoll, endSearch);
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#scheduleNext((foundAt ?? performance.now()) - startedAt, againAfterMs);
    }
  }

  async #checkNow(isPoll: boolean, endSearch: () => void): Promise<number | null> {
    // Runs before the check, so that any later change raises an event.
    if (isPoll) await this.#renewWatchers();
    this.#hasEvent = false;
    const againAfterMs = await this.#options.check(isPoll, endSearch);
    // Changes before a folder was watched have raised no event.
    if (this.#hasNewFolders && (await this.#renewWatchers())) this.pollSoon();
    return againAfterMs;
  }

  #scheduleNext(searchMs: number, againAfterMs: number | null): void {
    const endedAt = performance.now();
    const restMs = Math.min(searchMs * SEARCH_SHARE, MAX_REST_MS);
    if (this.#pollAt === Number.POSITIVE_INFINITY) this.#pollAt = endedAt + this.#pollMs;
    this.#checking = null;
    const untilPollMs = Math.max(0, Math.ceil(this.#pollAt - endedAt));
    const waitMs = this.#hasEvent
      ? EVENT_DELAY_MS
      : Math.min(againAfterMs ?? untilPollMs, untilPollMs);
    // A timer may fire a millisecond early: the check would not be a poll yet.
    this.#schedule(Math.max(waitMs, restMs) + 1);
  }

  /** @returns whether a folder is newly watched */
  async #renewWatchers(): Promise<boolean> {
    this.#hasNewFolders = false;
    for (const folder of this.#watched.keys())
      if (!this.#folders.has(folder)) this.#unwatch(folder);
    const renewed = await Promise.all([...this.#folders].map((folder) => this.#renew(folder)));
    return renewed.includes(true);
  }

  async #renew(folder: string): Promise<boolean> {
    const status = await stat(folder).catch(() => null);
    const identity = status === null ? null : `${status.dev}:${status.ino}`;
    if (this.#watched.get(folder)?.identity === identity) return false;
    this.#unwatch(folder);
    if (identity === null || this.#isClosed) return false;
    try {
      const { names } = this.#options;
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        if (event === 'change' && name !== null && names?.has(name) === false) return;
        // The event of a removed folder has its own name. A new one may have the same inode.
        const isItself = name === basename(folder);
        if (isItself) this.#unwatch(folder);
        if (name === null || isItself) this.pollSoon();
        else this.#checkSoon();
      });
      watcher.on('error', () => this.#unwatch(folder));
      this.#watched.set(folder, { identity, watcher });
      return true;
    } catch {
      // The limit of the system is reached. Polls find the changes.
      return false;
    }
  }

  #unwatch(folder: string): void {
    this.#watched.get(folder)?.watcher.close();
    this.#watched.delete(folder);
  }
}

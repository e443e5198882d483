import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Finds changes that raise no event: an edit behind a symbolic link, a network file system. */
const POLL_MS = 2000;
/** Polls take at most a tenth of the time, however many files there are. */
const POLL_SHARE = 10;
/** Debounce: file events arrive in bursts. */
const HINT_DELAY_MS = 20;
/** With more changed paths, everything is checked. */
const MAX_HINTS = 10_000;

interface WatcherOptions {
  /**
   * Looks for changes. Checks do not overlap.
   * @param hints absolute paths that may have changed; `null` for a poll, which checks everything
   * @returns after how many milliseconds to check again; `null` to wait for an event or the next poll
   */
  readonly check: (hints: ReadonlySet<string> | null) => Promise<number | null>;
  /** Called with errors of `check`. Watching continues. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between polls, default 2000. */
  readonly pollMs?: number | undefined;
}

interface WatchedFolder {
  /** Device and inode: a folder that was replaced by another one is watched again. */
  readonly identity: string;
  readonly watcher: FSWatcher;
}

/**
 * Decides when to check files: after any event in the watched folders, and at every poll. An event is a
 * hint, never the truth.
 */
export class Watcher {
  readonly #options: WatcherOptions;
  readonly #pollMs: number;
  readonly #watched = new Map<string, WatchedFolder>();
  #folders: ReadonlySet<string> = new Set();
  #hasNewFolders = false;
  /** Since the last check began; `null`: check everything. */
  #hints: Set<string> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #checkAt = Number.POSITIVE_INFINITY;
  #pollAt = 0;
  #checking: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#pollMs = options.pollMs ?? POLL_MS;
  }

  /** The folders whose events count. Those that do not exist are watched once they do. */
  follow(folders: Iterable<string>): void {
    const next = new Set(folders);
    for (const folder of next) if (!this.#folders.has(folder)) this.#hasNewFolders = true;
    this.#folders = next;
  }

  start(): void {
    this.hint();
  }

  /** Checks soon. @param path `null`: everything */
  hint(path: string | null = null): void {
    if (path === null || this.#hints?.size === MAX_HINTS) this.#hints = null;
    else this.#hints?.add(path);
    if (this.#checking === null) this.#schedule(HINT_DELAY_MS);
  }

  /** Resolves when the check in progress, if any, has ended. No other follows. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const folder of this.#watched.keys()) this.#unwatch(folder);
    await this.#checking;
  }

  /** A check that is scheduled earlier stays: events without end must not postpone it. */
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

  /** Never rejects: whatever fails, the next check follows. */
  async #check(): Promise<void> {
    const startedAt = performance.now();
    if (startedAt >= this.#pollAt) this.#hints = null;
    const isPoll = this.#hints === null;
    let againAfterMs: number | null = null;
    try {
      againAfterMs = await this.#checkNow(isPoll);
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#scheduleNext(startedAt, isPoll, againAfterMs);
    }
  }

  async #checkNow(isPoll: boolean): Promise<number | null> {
    // Before the check, so that any later change raises an event.
    if (isPoll) await this.#renewWatchers();
    const hints = this.#hints;
    this.#hints = new Set();
    const againAfterMs = await this.#options.check(hints);
    // Changes before a folder was watched have raised no event.
    if (this.#hasNewFolders && (await this.#renewWatchers())) this.#hints = null;
    return againAfterMs;
  }

  #scheduleNext(startedAt: number, isPoll: boolean, againAfterMs: number | null): void {
    const endedAt = performance.now();
    const restMs = (endedAt - startedAt) * POLL_SHARE;
    if (isPoll) this.#pollAt = endedAt + Math.max(this.#pollMs, restMs);
    this.#checking = null;
    const hasHints = this.#hints === null || this.#hints.size > 0;
    const untilPollMs = Math.max(0, Math.ceil(this.#pollAt - endedAt));
    // A timer may fire a millisecond early: the check would not be a poll yet.
    this.#schedule(
      hasHints ? HINT_DELAY_MS : Math.min(againAfterMs ?? untilPollMs, untilPollMs) + 1,
    );
  }

  /** @returns whether a folder is watched that was not watched before */
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
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        // The event of a removed folder has its own name. A new one may have the same inode.
        const isItself = name === basename(folder);
        if (isItself) this.#unwatch(folder);
        this.hint(name === null || isItself ? null : join(folder, name));
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

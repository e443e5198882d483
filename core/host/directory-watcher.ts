import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What no event tells (an edit behind a link, a network file system) is found by looking. */
const POLL_MS = 2000;
/** Looking takes at most a tenth of the time, however large the folder is. */
const POLL_SHARE = 10;
/** Events come in flocks: one look serves them all. */
const HINT_DELAY_MS = 20;

interface WatchedFolder {
  readonly identity: string;
  readonly watcher: FSWatcher;
}

/**
 * One look at the folder.
 * @param hints where something may have changed, absolute; `null`: anywhere
 * @returns after how many milliseconds to look again, `null` for no need of its own
 */
export type Look = (hints: ReadonlySet<string> | null) => Promise<number | null>;

/**
 * Decides when to look, and where: on any event in the folder or beside a file that a descriptor names at
 * what the event is about, and every two seconds everywhere. An event is a hint, never the truth; one
 * look runs at a time.
 */
export class DirectoryWatcher {
  readonly #directory: string;
  readonly #look: Look;
  readonly #folders = new Map<string, WatchedFolder>();
  #wanted: ReadonlySet<string> = new Set();
  #isWantedNew = false;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  /** Since the last look began; `null`: anywhere. */
  #hints: Set<string> | null = new Set();
  /** When it is time to look everywhere. */
  #pollAt = 0;
  #isClosed = false;

  constructor(directory: string, look: Look) {
    this.#directory = directory;
    this.#look = look;
  }

  start(): void {
    this.hint();
  }

  /** The files that descriptors name. */
  follow(files: readonly string[]): void {
    const wanted = new Set(files.map((file) => dirname(file)));
    this.#isWantedNew ||= wanted.size !== this.#wanted.size || !isWithin(wanted, this.#wanted);
    this.#wanted = wanted;
  }

  /** Looks soon: at the file, or everywhere. */
  hint(path: string | null = null): void {
    if (path === null) this.#hints = null;
    else this.#hints?.add(path);
    if (this.#looking === null) this.#schedule(HINT_DELAY_MS);
  }

  /** Ends all watching; resolves when a look that is under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
    await this.#looking;
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#looking = this.#lookOnce();
    }, delayMs);
  }

  async #lookOnce(): Promise<void> {
    const startedAt = performance.now();
    const hints = startedAt >= this.#pollAt ? null : this.#hints;
    this.#hints = new Set();
    // Watched before the look: what changes in between raises an event.
    if (hints === null) await this.#renewWatchers();
    const againAfterMs = await this.#look(hints);
    if (this.#isWantedNew) await this.#renewWatchers();
    const endedAt = performance.now();
    if (hints === null) {
      this.#pollAt = endedAt + Math.max(POLL_MS, (endedAt - startedAt) * POLL_SHARE);
    }
    this.#looking = null;
    if (this.#hints === null || this.#hints.size > 0) this.#schedule(HINT_DELAY_MS);
    else
      this.#schedule(
        Math.min(againAfterMs ?? Number.POSITIVE_INFINITY, Math.max(1, this.#pollAt - endedAt)),
      );
  }

  /** A folder that was replaced by another of its name is another folder. */
  async #renewWatchers(): Promise<void> {
    this.#isWantedNew = false;
    const wanted = new Set([this.#directory, ...this.#wanted]);
    for (const [folder, { watcher }] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of wanted) await this.#renewWatcher(folder);
  }

  async #renewWatcher(folder: string): Promise<void> {
    const identity = await stat(folder).then(
      ({ dev, ino }) => `${dev}:${ino}`,
      () => null,
    );
    const watched = this.#folders.get(folder);
    if (watched?.identity === identity) return;
    watched?.watcher.close();
    this.#folders.delete(folder);
    if (identity === null || this.#isClosed) return;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) =>
        this.hint(name === null ? null : join(folder, name)),
      );
      // The poll goes on without it.
      watcher.on('error', () => watcher.close());
      this.#folders.set(folder, { identity, watcher });
    } catch {
      // No watcher to be had (a limit of the system): the poll finds what changes.
    }
  }
}

function isWithin(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const one of some) if (!others.has(one)) return false;
  return true;
}

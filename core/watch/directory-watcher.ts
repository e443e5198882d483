import { type FSWatcher, watch } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { WatchableFolders } from './directory-scanner.js';

/**
 * The numbers by which `statfs(2)` names local file systems of Linux: whatever is written to a file there is told to who
 * watches its folder (inotify(7)). Of any other, one of a network say, that is not known.
 */
const INOTIFY_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/** Whether events tell of each change of a plain file in the folder; `false` where that is not known. */
export async function supportsInotify(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  try {
    return INOTIFY_TYPES.has((await statfs(folder)).type);
  } catch {
    return false;
  }
}

/** What no event tells (an edit behind a link, a network file system) is found by looking. */
const POLL_MS = 2000;
/** And what an event should have told, but none did. */
const EVERYWHERE_MS = 60_000;
/** Looking takes at most a tenth of the time, however large the folder is. */
const POLL_SHARE = 10;
/** Events come in flocks: one look serves them all. */
const HINT_DELAY_MS = 20;

interface WatchedFolder {
  readonly identity: string;
  readonly device: number;
  readonly isTelling: boolean;
  readonly watcher: FSWatcher;
}

/**
 * One look at the folder.
 * @param hints where something may have changed, absolute; `null`: anywhere
 * @param telling also wherever these folders do not tell of it; `null`: at the hints alone
 * @returns after how many milliseconds to look again, `null` for no need of its own
 */
export type Look = (
  hints: ReadonlySet<string> | null,
  telling: WatchableFolders | null,
) => Promise<number | null>;

/**
 * Decides when to look, and where: on any event in the folder or beside a file that a descriptor names at
 * what the event is about, every two seconds wherever there may be a change without an event, and every
 * minute everywhere. An event is a hint, never the truth; one look runs at a time.
 */
export class DirectoryWatcher {
  readonly #directory: string;
  readonly #look: Look;
  readonly #everywhereMs: number;
  readonly #folders = new Map<string, WatchedFolder>();
  #wanted: ReadonlySet<string> = new Set();
  #isWantedNew = false;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  /** Since the last look began; `null`: anywhere. */
  #hints: Set<string> | null = new Set();
  /** When it is time to look where no event may tell. */
  #pollAt = 0;
  #everywhereAt = 0;
  #isClosed = false;

  /** @param everywhereMs between two looks at everything */
  constructor(directory: string, look: Look, everywhereMs = EVERYWHERE_MS) {
    this.#directory = directory;
    this.#look = look;
    this.#everywhereMs = everywhereMs;
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
    for (const folder of this.#folders.keys()) this.#unwatch(folder);
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
    if (startedAt >= this.#everywhereAt) this.#hints = null;
    const isPoll = this.#hints === null || startedAt >= this.#pollAt;
    // Watched before the look: what changes in between raises an event. What changed before did not.
    if (isPoll && (await this.#renewWatchers())) this.#hints = null;
    const hints = this.#hints;
    this.#hints = new Set();
    const againAfterMs = await this.#look(hints, isPoll ? this.#listTelling() : null);
    if (this.#isWantedNew && (await this.#renewWatchers())) this.#hints = null;
    const endedAt = performance.now();
    const restMs = (endedAt - startedAt) * POLL_SHARE;
    if (isPoll) this.#pollAt = endedAt + Math.max(POLL_MS, restMs);
    if (hints === null) this.#everywhereAt = endedAt + Math.max(this.#everywhereMs, restMs);
    this.#looking = null;
    if (this.#hints === null || this.#hints.size > 0) this.#schedule(HINT_DELAY_MS);
    // A timer may be early by a millisecond: the look would not be a poll yet.
    else
      this.#schedule(
        Math.min(
          againAfterMs ?? Number.POSITIVE_INFINITY,
          Math.max(0, Math.ceil(this.#pollAt - endedAt)) + 1,
        ),
      );
  }

  #listTelling(): WatchableFolders {
    const telling = new Map<string, number>();
    for (const [folder, { device, isTelling }] of this.#folders) {
      if (isTelling) telling.set(folder, device);
    }
    return telling;
  }

  /**
   * A folder that was replaced by another of its name is another folder.
   * @returns whether one is watched that was not before
   */
  async #renewWatchers(): Promise<boolean> {
    this.#isWantedNew = false;
    let hasNew = false;
    const wanted = new Set([this.#directory, ...this.#wanted]);
    for (const folder of this.#folders.keys()) if (!wanted.has(folder)) this.#unwatch(folder);
    for (const folder of wanted) {
      const isNew = await this.#renewWatcher(folder);
      hasNew ||= isNew;
    }
    return hasNew;
  }

  async #renewWatcher(folder: string): Promise<boolean> {
    const status = await stat(folder).catch(() => null);
    const identity = status === null ? null : `${status.dev}:${status.ino}`;
    if (this.#folders.get(folder)?.identity === identity) return false;
    this.#unwatch(folder);
    if (status === null || identity === null) return false;
    const willTell = await supportsInotify(folder);
    if (this.#isClosed) return false;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        // An event of its own name is about the folder itself: one that is made anew may have the same inode.
        const isItself = name === basename(folder);
        if (isItself) this.#unwatch(folder);
        this.hint(name === null || isItself ? null : join(folder, name));
      });
      // The next look makes another, if there is one to be had.
      watcher.on('error', () => this.#unwatch(folder));
      this.#folders.set(folder, { identity, device: status.dev, isTelling: willTell, watcher });
      return true;
    } catch {
      // No watcher to be had (a limit of the system): the poll finds what changes.
      return false;
    }
  }

  /** A watcher that is closed tells of nothing more: it is the present one of the folder that gives up. */
  #unwatch(folder: string): void {
    this.#folders.get(folder)?.watcher.close();
    this.#folders.delete(folder);
  }
}

function isWithin(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const one of some) if (!others.has(one)) return false;
  return true;
}

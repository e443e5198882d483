import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

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
 * Decides when to look: on any event in the folder or beside a file that a descriptor names, and every
 * two seconds whatever happens. An event is a hint, never the truth; one look runs at a time.
 */
export class DirectoryWatcher {
  readonly #directory: string;
  readonly #look: () => Promise<number | null>;
  readonly #folders = new Map<string, WatchedFolder>();
  #wanted: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #isHinted = false;
  #isClosed = false;

  /** @param look answers after how many milliseconds to look again, `null` for no need of its own */
  constructor(directory: string, look: () => Promise<number | null>) {
    this.#directory = directory;
    this.#look = look;
  }

  start(): void {
    this.hint();
  }

  /** The files that descriptors name. */
  follow(files: readonly string[]): void {
    this.#wanted = new Set(files.map((file) => dirname(file)));
  }

  /** Looks soon. */
  hint(): void {
    if (this.#looking === null) this.#schedule(HINT_DELAY_MS);
    else this.#isHinted = true;
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
    this.#isHinted = false;
    const startedAt = performance.now();
    // Watched before the look: what changes in between raises an event.
    await this.#renewWatchers();
    const againAfterMs = await this.#look();
    const tookMs = performance.now() - startedAt;
    this.#looking = null;
    if (this.#isHinted) this.#schedule(HINT_DELAY_MS);
    else this.#schedule(againAfterMs ?? Math.max(POLL_MS, tookMs * POLL_SHARE));
  }

  /** A folder that was replaced by another of its name is another folder. */
  async #renewWatchers(): Promise<void> {
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
      const watcher = watch(folder, { persistent: false }, () => this.hint());
      // The poll goes on without it.
      watcher.on('error', () => watcher.close());
      this.#folders.set(folder, { identity, watcher });
    } catch {
      // No watcher to be had (a limit of the system): the poll finds what changes.
    }
  }
}

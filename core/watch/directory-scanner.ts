import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { mapConcurrently } from '../lib/promises.js';
import {
  type DirectoryFile,
  DirectoryLister,
  type IgnoredFile,
  readDirectoryFile,
} from './directory.js';
import {
  type Fingerprint,
  findDifferent,
  isMissing,
  isSame,
  MISSING,
  readIdentity,
  takeFingerprint,
  UNREAD,
} from './fingerprint.js';

/** How long a file must have stood still before it is read: who writes it may be half-way through. */
export const SETTLE_MS = 100;
/** And how long one must have been gone: some editors remove a file before they write it anew. */
const REMOVAL_SETTLE_MS = 300;
// Enough to keep the thread pool busy, few enough to leave descriptors for callers.
const FILES_AT_ONCE = 16;

export interface ScanResult {
  /** New or changed, and settled, in the order of their names. */
  readonly changed: readonly DirectoryFile[];
  readonly removed: readonly string[];
  /** The same file under another name. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  readonly ignored: readonly IgnoredFile[];
  /** When to look again for what has not settled; `null` when everything has. Milliseconds. */
  readonly againAfterMs: number | null;
}

interface TrackedFile {
  /** Of the file itself and of those that it names. */
  paths: readonly string[];
  /** In which those lie, in the same order. */
  folders: readonly string[];
  /** What they looked like when they were read. */
  fingerprint: Fingerprint;
  /** A different look, not yet settled. */
  candidate: { readonly fingerprint: Fingerprint; readonly since: number } | null;
}

/** The devices of folders, by their paths, in which no plain file changes without an event. */
export type WatchableFolders = ReadonlyMap<string, number>;

interface Clock {
  /** Milliseconds, never back. */
  now(): number;
}

/** Tells what changed in the folder of descriptors since it was last asked. */
export class DirectoryScanner {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #lister: DirectoryLister;
  readonly #tracked = new Map<string, TrackedFile>();

  constructor(directory: string, clock: Clock = performance) {
    this.#directory = directory;
    this.#clock = clock;
    this.#lister = new DirectoryLister(directory);
  }

  /**
   * @param settle whether a change must have stood still; at start everything is taken as it is
   * @param hints where something may have changed, absolute; `null`: anywhere
   * @param telling beside the hints, look at whatever may have changed without one: these folders, by their devices, tell
   * of each change of a plain file in them; `null`: look at the hints alone
   * @throws UnreadableDirectory when the folder is not there or cannot be read: nothing counts as removed.
   */
  async scan(
    settle: boolean,
    hints: ReadonlySet<string> | null = null,
    telling: WatchableFolders | null = null,
  ): Promise<ScanResult> {
    const { names, ignored, ways } = await this.#lister.list();
    const listedAt = this.#clock.now();
    const isAsTracked =
      this.#tracked.size === names.length && names.every((file) => this.#tracked.has(file));
    const renamed = isAsTracked ? [] : await this.#followRenames(names);
    const observed = hints === null ? names : this.#listHinted(names, ways, hints, telling);
    const different = await this.#findDifferent(observed);
    // A file that has become something else may be no descriptor any more.
    if (different.length > 0) this.#lister.forget();
    const states = await mapConcurrently(different, FILES_AT_ONCE, async (file) => ({
      file,
      isChanged: await this.#observe(file, settle),
    }));
    const changed = states.filter(({ isChanged }) => isChanged).map(({ file }) => file);
    const removed = isAsTracked ? [] : this.#observeMissing(new Set(names), listedAt, settle);
    const read = await mapConcurrently(changed, FILES_AT_ONCE, (file) =>
      readDirectoryFile(this.#directory, file),
    );
    return {
      changed: read.filter((one) => !this.#wentMeanwhile(one)),
      removed,
      renamed,
      ignored,
      againAfterMs: this.#nextLook(),
    };
  }

  /** The files that a descriptor names: a change of one of them is a change of the descriptor. */
  async follow(file: string, named: readonly string[]): Promise<void> {
    const tracked = this.#tracked.get(file);
    const paths = [join(this.#directory, file), ...named];
    if (tracked === undefined || isDeepStrictEqual(tracked.paths, paths)) return;
    Object.assign(tracked, placePaths(paths));
    tracked.fingerprint = await takeFingerprint(paths);
  }

  /** Makes every file count as changed at the next scan. */
  forget(): void {
    for (const tracked of this.#tracked.values()) tracked.fingerprint = UNREAD;
  }

  /** A file that went and one that came are one when they are the same to the file system. */
  async #followRenames(names: readonly string[]): Promise<ScanResult['renamed']> {
    const present = new Set(names);
    const missing = new Map<string | null, string>();
    for (const [file, { fingerprint }] of this.#tracked) {
      const identity = readIdentity(fingerprint);
      if (identity !== null && !present.has(file)) missing.set(identity, file);
    }
    if (missing.size === 0) return [];
    const renamed: { from: string; to: string }[] = [];
    for (const to of names) {
      if (this.#tracked.has(to)) continue;
      const path = join(this.#directory, to);
      const identity = readIdentity(await takeFingerprint([path]));
      const from = missing.get(identity);
      const tracked = from === undefined ? undefined : this.#tracked.get(from);
      if (from === undefined || tracked === undefined) continue;
      missing.delete(identity);
      this.#tracked.delete(from);
      // Read again: that it says the same is found out by its digest.
      const places = placePaths([path, ...tracked.paths.slice(1)]);
      this.#tracked.set(to, { ...tracked, ...places, candidate: null });
      renamed.push({ from, to });
    }
    return renamed;
  }

  /** New ones, those that have not settled, those that a hint is about, and those that nobody tells of. */
  #listHinted(
    names: readonly string[],
    ways: ReadonlySet<string>,
    hints: ReadonlySet<string>,
    telling: WatchableFolders | null,
  ): readonly string[] {
    if ([...ways].some((name) => hints.has(join(this.#directory, name)))) return names;
    const folders = new Set([...hints].map((path) => dirname(path)));
    folders.delete(this.#directory);
    const isHinted = (path: string) => hints.has(path);
    const hasHint = (folder: string) => folders.has(folder);
    return names.filter((file) => {
      const tracked = this.#tracked.get(file);
      if (tracked === undefined || tracked.candidate !== null) return true;
      if (telling !== null && !isWatched(tracked, telling)) return true;
      return tracked.paths.some(isHinted) || tracked.folders.some(hasHint);
    });
  }

  /** Those that are new, or look different than when they were read; of the others nothing is left to settle. */
  async #findDifferent(files: readonly string[]): Promise<readonly string[]> {
    const tracked = files.map((file) => this.#track(file));
    const different = await findDifferent(tracked);
    return files.filter((_file, index) => {
      const one = tracked[index] as TrackedFile;
      if (different.has(one)) return true;
      one.candidate = null;
      return false;
    });
  }

  #track(file: string): TrackedFile {
    const known = this.#tracked.get(file);
    if (known !== undefined) return known;
    const places = placePaths([join(this.#directory, file)]);
    const tracked: TrackedFile = { ...places, fingerprint: UNREAD, candidate: null };
    this.#tracked.set(file, tracked);
    return tracked;
  }

  async #observe(file: string, settle: boolean): Promise<boolean> {
    const tracked = this.#track(file);
    // Stood still from the end of one look to the beginning of another, however long a look takes.
    const askedAt = this.#clock.now();
    const fingerprint = await takeFingerprint(tracked.paths);
    const look = { fingerprint, askedAt, seenAt: this.#clock.now() };
    if (isSame(fingerprint, tracked.fingerprint)) {
      tracked.candidate = null;
      return false;
    }
    if (!hasSettled(tracked, look, settle ? SETTLE_MS : 0)) return false;
    tracked.fingerprint = fingerprint;
    return true;
  }

  /** Removed between the look and the reading: the next look tells whether it is gone, or a link to nowhere. */
  #wentMeanwhile(read: DirectoryFile): boolean {
    const tracked = this.#tracked.get(read.file);
    if (tracked === undefined || 'text' in read || read.finding.rule !== 'file-missing')
      return false;
    if (isMissing(tracked.fingerprint)) return false;
    tracked.fingerprint = UNREAD;
    tracked.candidate = { fingerprint: UNREAD, since: this.#clock.now() };
    return true;
  }

  #observeMissing(names: ReadonlySet<string>, listedAt: number, settle: boolean): string[] {
    const removed: string[] = [];
    const look = { fingerprint: MISSING, askedAt: listedAt, seenAt: listedAt };
    for (const [file, tracked] of this.#tracked) {
      if (names.has(file)) continue;
      if (!hasSettled(tracked, look, settle ? REMOVAL_SETTLE_MS : 0)) continue;
      this.#tracked.delete(file);
      removed.push(file);
    }
    return removed;
  }

  #nextLook(): number | null {
    const now = this.#clock.now();
    let earliest: number | null = null;
    for (const { candidate } of this.#tracked.values()) {
      if (candidate === null) continue;
      const settleMs = candidate.fingerprint === MISSING ? REMOVAL_SETTLE_MS : SETTLE_MS;
      const left = Math.max(1, Math.ceil(candidate.since + settleMs - now));
      earliest = Math.min(earliest ?? left, left);
    }
    return earliest;
  }
}

interface Look {
  readonly fingerprint: Fingerprint;
  readonly askedAt: number;
  readonly seenAt: number;
}

/** On another device than its folder a file is mounted there: it may be written to where nobody watches. */
function isWatched({ folders, fingerprint }: TrackedFile, telling: WatchableFolders): boolean {
  return folders.every((folder, index) => {
    const look = fingerprint[index];
    return look?.isPlain === true && telling.get(folder) === look.dev;
  });
}

function placePaths(paths: readonly string[]): Pick<TrackedFile, 'paths' | 'folders'> {
  return { paths, folders: paths.map((path) => dirname(path)) };
}

function hasSettled(tracked: TrackedFile, look: Look, settleMs: number): boolean {
  const { fingerprint, askedAt, seenAt } = look;
  if (tracked.candidate === null || !isSame(tracked.candidate.fingerprint, fingerprint)) {
    tracked.candidate = { fingerprint, since: seenAt };
    if (settleMs > 0) return false;
  } else if (askedAt - tracked.candidate.since < settleMs) return false;
  tracked.candidate = null;
  return true;
}

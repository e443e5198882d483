import { hash } from 'node:crypto';
import { join } from 'node:path';
import { FileError, readSmallFile } from '../document/read-file.js';
import { BUSY_FILE } from '../document/transient-error.js';
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
  fingerprintOf,
  isMissing,
  isSame,
  type PathFingerprint,
  readIdentity,
  takeFingerprint,
  UNREAD,
} from './fingerprint.js';
import { SETTLE_MS, Settling } from './settling.js';

/** How long a file must be gone: some editors remove a file before they write it again. */
export const REMOVAL_SETTLE_MS = 300;
/** How much earlier than the removal of a file its other name may appear, as of a copy. */
const ARRIVAL_MS = 2000;
// Enough to keep the thread pool busy, few enough to leave file descriptors for connections.
const FILES_AT_ONCE = 16;

export interface ScanResult {
  /** New or changed, and settled, in the order of their names. */
  readonly changed: readonly DirectoryFile[];
  readonly removed: readonly string[];
  /** The files with other content since shortly before one of the removed files was missing. */
  readonly arrived: ReadonlySet<string>;
  /** A file with a new name. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  /** Files that keep changing; each is listed once. */
  readonly unsettled: readonly string[];
  /** Files that cannot be read at the moment; each is listed once. */
  readonly busy: readonly string[];
  readonly ignored: readonly IgnoredFile[];
  /**
   * The time until the next scan for unsettled files; `null` when all have settled. Milliseconds.
   */
  readonly againAfterMs: number | null;
}

type EndedFiles = Pick<ScanResult, 'removed' | 'arrived'>;

const NOTHING: EndedFiles = { removed: [], arrived: new Set() };

interface TrackedFile {
  /** The time at which it was read with other content than before, on the clock. Milliseconds. */
  changedAt: number;
  /** The file itself and the files that it names. */
  paths: readonly string[];
  /** The fingerprint at the time of the last read. */
  fingerprint: Fingerprint;
  /** A digest of what was returned last; `null` if it must be returned again. */
  content: string | null;
  /** The inode of the file when it was last seen, also while it has not settled. */
  identity: string | null;
  /** Set while a change has not settled. */
  settling: Settling | null;
  /** Whether it could not be read because of a transient error. */
  isBusy: boolean;
}

interface Clock {
  /** Milliseconds; never goes back. */
  now(): number;
}

/** Finds changes in the folder of descriptors since the last scan. */
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
   * @param settle whether a change must settle. Otherwise files are used as they are, such as at the start and where
   * they are complete before they can be seen, and a file that was replaced by an equal one has not changed.
   * @param known the files to list when the folder cannot be read. Default: it throws.
   * @throws UnreadableDirectory when the folder cannot be read: no file counts as removed.
   */
  async scan(settle: boolean, known: readonly string[] = []): Promise<ScanResult> {
    const { names, ignored } = await this.#lister.list().catch((error: unknown) => {
      if (known.length === 0) throw error;
      return { names: known, ignored: [] };
    });
    const listedAt = this.#clock.now();
    const isAsTracked =
      this.#tracked.size === names.length && names.every((file) => this.#tracked.has(file));
    const renamed = isAsTracked ? [] : await this.#followRenames(names);
    const different = await this.#findDifferent(names);
    // A file may have become a folder, for example.
    if (different.length > 0) this.#lister.forget();
    const busy: string[] = [];
    const read = await mapConcurrently(different, FILES_AT_ONCE, (file) =>
      this.#readSettled(file, settle ? SETTLE_MS : 0, busy),
    );
    const ends = isAsTracked ? NOTHING : this.#findRemoved(new Set(names), listedAt, settle);
    return {
      changed: read.flatMap((file) => file ?? []),
      ...ends,
      renamed,
      unsettled: this.#takeUnsettled(),
      busy,
      ignored,
      againAfterMs: this.#remainingMs(),
    };
  }

  /**
   * Watches the files that a descriptor names: a change of one of them is a change of the
   * descriptor.
   */
  async follow(file: string, named: readonly string[]): Promise<void> {
    const tracked = this.#tracked.get(file);
    const paths = [join(this.#directory, file), ...named];
    if (tracked === undefined || isSameList(tracked.paths, paths)) return;
    tracked.paths = paths;
    tracked.content = null;
    const ofNamed = await takeFingerprint(named);
    // `forget` may have been called since the file was read, and the file may have changed.
    const [ownFingerprint] = tracked.fingerprint;
    if (ownFingerprint !== undefined) tracked.fingerprint = [ownFingerprint, ...ofNamed];
  }

  /** Makes every file, or one of them, count as changed at the next scan. */
  forget(file?: string): void {
    for (const [name, tracked] of this.#tracked) {
      if (file !== undefined && file !== name) continue;
      tracked.fingerprint = UNREAD;
      tracked.content = null;
    }
  }

  /** A missing file and a new one with the same identity are the same file. */
  async #followRenames(names: readonly string[]): Promise<ScanResult['renamed']> {
    const present = new Set(names);
    const missing = new Map<string | null, string>();
    for (const [file, { identity }] of this.#tracked) {
      if (identity !== null && !present.has(file)) missing.set(identity, file);
    }
    if (missing.size === 0) return [];
    const renamed: { from: string; to: string }[] = [];
    for (const newName of names) {
      if (this.#tracked.has(newName)) continue;
      const path = join(this.#directory, newName);
      const identity = readIdentity(await takeFingerprint([path]));
      const from = missing.get(identity);
      const tracked = from === undefined ? undefined : this.#tracked.get(from);
      if (from === undefined || tracked === undefined) continue;
      missing.delete(identity);
      this.#tracked.delete(from);
      const paths = [path, ...tracked.paths.slice(1)];
      this.#tracked.set(newName, { ...tracked, paths, settling: null });
      renamed.push({ from, to: newName });
    }
    return renamed;
  }

  /** Finds new files, and those that have changed since they were read. */
  async #findDifferent(files: readonly string[]): Promise<readonly string[]> {
    const tracked = files.map((file) => this.#track(file));
    const different = await findDifferent(tracked);
    return files.filter((_file, index) => {
      const entry = tracked[index] as TrackedFile;
      if (different.has(entry)) return true;
      entry.settling = null;
      return false;
    });
  }

  #track(file: string): TrackedFile {
    const known = this.#tracked.get(file);
    if (known !== undefined) return known;
    const paths = [join(this.#directory, file)];
    const unread = { fingerprint: UNREAD, content: null, identity: null, settling: null };
    const tracked: TrackedFile = { paths, ...unread, changedAt: 0, isBusy: false };
    this.#tracked.set(file, tracked);
    return tracked;
  }

  /** Returns `null` for a file that has not settled, or has not changed after all. */
  async #readSettled(
    file: string,
    settleMs: number,
    busy: string[],
  ): Promise<DirectoryFile | null> {
    const tracked = this.#track(file);
    const startedAt = this.#clock.now();
    const opened = tracked.fingerprint === UNREAD ? await this.#open(file, tracked) : null;
    // Taken before the content is read, so that any later change shows as a different fingerprint.
    const fingerprint = opened?.fingerprint ?? (await takeFingerprint(tracked.paths));
    // A file that was just renamed may be found under its new name.
    tracked.identity = readIdentity(fingerprint) ?? tracked.identity;
    if (isSame(fingerprint, tracked.fingerprint)) {
      tracked.settling = null;
      return null;
    }
    const read = opened?.read ?? (await readDirectoryFile(this.#directory, file));
    const content = await digestContent(read, tracked.paths.slice(1));
    if (content === null && !tracked.isBusy) busy.push(file);
    tracked.isBusy = content === null;
    if (content === null) {
      tracked.settling = null;
      // At the start of the host, the last good version of the file must serve.
      return settleMs === 0 && tracked.content === null ? read : null;
    }
    const endedAt = this.#clock.now();
    tracked.settling ??= new Settling(startedAt);
    const isSettled = tracked.settling.accepts(content, { startedAt, endedAt }, settleMs);
    // Removed since the folder was listed: the next scan decides whether it is missing or a broken
    // link.
    if (!isSettled || (isGone(read) && !isMissing(fingerprint))) return null;
    tracked.settling = null;
    tracked.fingerprint = fingerprint;
    const isEqual = settleMs === 0 && content === tracked.content;
    if (content !== tracked.content) tracked.changedAt = endedAt;
    tracked.content = content;
    return isEqual ? null : read;
  }

  /**
   * Reads a file whose fingerprint is not known. That of an open file needs no step in a thread. `null` for a
   * file that cannot be opened.
   */
  async #open(file: string, { paths: [, ...named] }: TrackedFile) {
    const own: PathFingerprint[] = [];
    const read = await readDirectoryFile(this.#directory, file, (status) => {
      own.push(fingerprintOf(status));
    });
    if (own.length === 0) return null;
    return { read, fingerprint: [...own, ...(await takeFingerprint(named))] };
  }

  #findRemoved(names: ReadonlySet<string>, listedAt: number, settle: boolean): EndedFiles {
    const times = { startedAt: listedAt, endedAt: listedAt };
    const removed: string[] = [];
    let missingSince = Number.POSITIVE_INFINITY;
    // A new file may have the module of a removed one: both take effect together.
    const hasUnsettledNew = [...this.#tracked].some(
      ([file, { fingerprint, settling }]) =>
        fingerprint === UNREAD && settling !== null && names.has(file),
    );
    for (const [file, tracked] of this.#tracked) {
      if (names.has(file)) continue;
      tracked.settling ??= new Settling(listedAt);
      if (!tracked.settling.accepts('removed', times, settle ? REMOVAL_SETTLE_MS : 0)) continue;
      if (hasUnsettledNew && !tracked.settling.isOverdue(listedAt)) continue;
      this.#tracked.delete(file);
      removed.push(file);
      missingSince = Math.min(missingSince, tracked.settling.changingSince);
    }
    if (removed.length === 0) return NOTHING;
    const arrived = [...this.#tracked].filter(
      ([, { changedAt }]) => changedAt >= missingSince - ARRIVAL_MS,
    );
    return { removed, arrived: new Set(arrived.map(([file]) => file)) };
  }

  #takeUnsettled(): string[] {
    const now = this.#clock.now();
    return [...this.#tracked]
      .filter(([, { settling }]) => settling?.takeWarning(now))
      .map(([file]) => file);
  }

  #remainingMs(): number | null {
    const now = this.#clock.now();
    let earliest: number | null = null;
    for (const { settling } of this.#tracked.values()) {
      if (settling === null) continue;
      const remainingMs = settling.remainingMs(now);
      earliest = Math.min(earliest ?? remainingMs, remainingMs);
    }
    return earliest;
  }
}

function isSameList(list: readonly string[], other: readonly string[]): boolean {
  return list.length === other.length && list.every((item, index) => item === other[index]);
}

/** Covers the descriptor and the files that it names. `null` after a transient error. */
async function digestContent(
  read: DirectoryFile,
  namedFiles: readonly string[],
): Promise<string | null> {
  const stamp = 'text' in read ? hash('sha256', read.text) : read.diagnostic.rule;
  const all = [stamp, ...(await Promise.all(namedFiles.map(digestFile)))];
  return all.includes(BUSY_FILE) ? null : all.join();
}

async function digestFile(path: string): Promise<string> {
  try {
    return hash('sha256', await readSmallFile(path));
  } catch (error) {
    if (error instanceof FileError) return error.code;
    throw error;
  }
}

function isGone(read: DirectoryFile): boolean {
  return 'diagnostic' in read && read.diagnostic.rule === 'file-missing';
}

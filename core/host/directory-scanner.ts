import { dirname, join } from 'node:path';
import { mapConcurrently } from '../lib/map-concurrently.js';
import {
  type DirectoryFile,
  type IgnoredFile,
  listDirectory,
  readDirectoryFile,
} from './directory.js';
import {
  fingerprintFile,
  fingerprintFiles,
  isMissing,
  MISSING,
  readIdentity,
} from './file-fingerprint.js';

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
  /** What the file and the files that it names looked like when they were read. */
  fingerprint: string;
  named: readonly string[];
  /** A different look, not yet settled. */
  candidate: { readonly fingerprint: string; readonly since: number } | null;
}

interface Clock {
  /** Milliseconds, never back. */
  now(): number;
}

/** Tells what changed in the folder of descriptors since it was last asked. */
export class DirectoryScanner {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #tracked = new Map<string, TrackedFile>();

  constructor(directory: string, clock: Clock = performance) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /**
   * @param settle whether a change must have stood still; at start everything is taken as it is
   * @param hints where something may have changed, absolute; `null`: anywhere
   * @throws UnreadableDirectory when the folder is not there or cannot be read: nothing counts as removed.
   */
  async scan(settle: boolean, hints: ReadonlySet<string> | null = null): Promise<ScanResult> {
    const { names, ignored, ways } = await listDirectory(this.#directory);
    const listedAt = this.#clock.now();
    const renamed = await this.#followRenames(names);
    const observed = hints === null ? names : this.#listHinted(names, ways, hints);
    const states = await mapConcurrently(observed, FILES_AT_ONCE, async (file) => ({
      file,
      isChanged: await this.#observe(file, settle),
    }));
    const changed = states.filter(({ isChanged }) => isChanged).map(({ file }) => file);
    const removed = this.#observeMissing(new Set(names), listedAt, settle);
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
    if (tracked === undefined || sameNames(tracked.named, named)) return;
    tracked.named = named;
    tracked.fingerprint = await this.#fingerprint(file, named);
  }

  /** Makes every file count as changed at the next scan. */
  forget(): void {
    for (const tracked of this.#tracked.values()) tracked.fingerprint = '';
  }

  /** A file that went and one that came are one when they are the same to the file system. */
  async #followRenames(names: readonly string[]): Promise<ScanResult['renamed']> {
    const present = new Set(names);
    const missing = new Map<string, string>();
    for (const [file, { fingerprint }] of this.#tracked) {
      if (!present.has(file)) missing.set(readIdentity(fingerprint), file);
    }
    if (missing.size === 0) return [];
    const renamed: { from: string; to: string }[] = [];
    for (const to of names) {
      if (this.#tracked.has(to)) continue;
      const identity = readIdentity(await fingerprintFile(join(this.#directory, to)));
      const from = missing.get(identity);
      const tracked = from === undefined ? undefined : this.#tracked.get(from);
      if (from === undefined || tracked === undefined) continue;
      missing.delete(identity);
      this.#tracked.delete(from);
      // Read again: that it says the same is found out by its digest.
      this.#tracked.set(to, { ...tracked, candidate: null });
      renamed.push({ from, to });
    }
    return renamed;
  }

  /** New ones, those that have not settled, and those that a hint is about. */
  #listHinted(
    names: readonly string[],
    ways: ReadonlySet<string>,
    hints: ReadonlySet<string>,
  ): readonly string[] {
    if ([...ways].some((name) => hints.has(join(this.#directory, name)))) return names;
    const folders = new Set([...hints].map((path) => dirname(path)));
    folders.delete(this.#directory);
    const isHinted = (path: string) => hints.has(path) || folders.has(dirname(path));
    return names.filter((file) => {
      const tracked = this.#tracked.get(file);
      if (tracked === undefined || tracked.candidate !== null) return true;
      return isHinted(join(this.#directory, file)) || tracked.named.some(isHinted);
    });
  }

  async #observe(file: string, settle: boolean): Promise<boolean> {
    const tracked = this.#tracked.get(file) ?? { fingerprint: '', named: [], candidate: null };
    this.#tracked.set(file, tracked);
    // Stood still from the end of one look to the beginning of another, however long a look takes.
    const askedAt = this.#clock.now();
    const fingerprint = await this.#fingerprint(file, tracked.named);
    const look = { fingerprint, askedAt, seenAt: this.#clock.now() };
    if (fingerprint === tracked.fingerprint) {
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
    tracked.fingerprint = '';
    tracked.candidate = { fingerprint: '', since: this.#clock.now() };
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

  #fingerprint(file: string, named: readonly string[]): Promise<string> {
    return fingerprintFiles([join(this.#directory, file), ...named]);
  }
}

interface Look {
  readonly fingerprint: string;
  readonly askedAt: number;
  readonly seenAt: number;
}

function hasSettled(tracked: TrackedFile, look: Look, settleMs: number): boolean {
  const { fingerprint, askedAt, seenAt } = look;
  if (tracked.candidate?.fingerprint !== fingerprint) {
    tracked.candidate = { fingerprint, since: seenAt };
    if (settleMs > 0) return false;
  } else if (askedAt - tracked.candidate.since < settleMs) return false;
  tracked.candidate = null;
  return true;
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

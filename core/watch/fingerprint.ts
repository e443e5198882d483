import { lstat, type Stats, stat } from 'node:fs';

// Enough to keep the thread pool busy, few enough to leave it to others too.
const PATHS_AT_ONCE = 16;

// Numbers, not big ones, which make twice the garbage: what they round off are fractions of a microsecond, and inodes
// beyond 2^53.
type StatFields = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>;

/**
 * Differs whenever the file may: replaced, or written to. Links are followed, so that an edit behind one shows.
 */
interface PathFingerprint extends StatFields {
  /** A regular file that can be reached by this path alone: neither a link, nor does it have another name. */
  readonly isPlain: boolean;
}

/** Of a descriptor and of the files that it names, in this order; `null` where a path leads to nothing. */
export type Fingerprint = readonly (PathFingerprint | null)[];

/** Of a file that was not read yet: no file looks like that. */
export const UNREAD: Fingerprint = [];
/** Of a descriptor that is gone. */
export const MISSING: Fingerprint = [null];

/** Paths, and what they looked like when they were looked at last. */
export interface Fingerprinted {
  readonly paths: readonly string[];
  readonly fingerprint: Fingerprint;
}

export function takeFingerprint(paths: readonly string[]): Promise<Fingerprint> {
  return Promise.all(paths.map(readFingerprint));
}

function readFingerprint(path: string): Promise<PathFingerprint | null> {
  if (isImpossible(path)) return Promise.resolve(null);
  return new Promise((resolve) => {
    lstat(path, (error, status) => {
      if (error !== null) resolve(null);
      else if (!status.isSymbolicLink()) resolve(describe(status, status.nlink === 1));
      else {
        stat(path, (missing, target) => resolve(missing === null ? describe(target, false) : null));
      }
    });
  });
}

/**
 * Those that look different than they did. Made for thousands that mostly do not, every two seconds:
 * one promise for all, and nothing is kept of a file that looks the same.
 */
export async function findDifferent<File extends Fingerprinted>(
  files: readonly File[],
): Promise<ReadonlySet<File>> {
  const different = new Set<File>();
  const places: Place<File>[] = [];
  for (const file of files) {
    const { paths, fingerprint } = file;
    if (fingerprint === UNREAD) different.add(file);
    else
      paths.forEach((path, index) => {
        if (isImpossible(path)) return;
        places.push({ file, path, known: fingerprint[index] });
      });
  }
  await statAll(places, ({ file, known }, status) => {
    if (!isSamePath(known, status)) different.add(file);
  });
  return different;
}

/** No file has such a path, and Node.js throws for it instead of calling back. */
function isImpossible(path: string): boolean {
  return path.includes('\0');
}

interface Place<File> {
  readonly file: File;
  readonly path: string;
  readonly known: PathFingerprint | null | undefined;
}

/** With callbacks: of ten thousand files the promises of the library would be half of the price. */
function statAll<File>(
  places: readonly Place<File>[],
  onStatus: (place: Place<File>, status: Stats | null) => void,
): Promise<void> {
  return new Promise((resolve) => {
    let next = 0;
    let underWay = 0;
    const statNext = () => {
      const place = places[next++];
      if (place === undefined) {
        if (underWay === 0) resolve();
        return;
      }
      underWay += 1;
      stat(place.path, (error, status) => {
        underWay -= 1;
        onStatus(place, error === null ? status : null);
        statNext();
      });
    };
    for (let lane = 0; lane < PATHS_AT_ONCE; lane += 1) statNext();
  });
}

export function isSame(one: Fingerprint, other: Fingerprint): boolean {
  return one.length === other.length && one.every((path, index) => isSamePath(path, other[index]));
}

/** Whether the first of the fingerprinted paths led to nothing. */
export function isMissing(fingerprint: Fingerprint): boolean {
  return fingerprint[0] === null;
}

/** Which file the first is, whatever it is called and says: the device and the inode; `null` where there is none. */
export function readIdentity([first]: Fingerprint): string | null {
  return first ? `${first.dev}:${first.ino}` : null;
}

function describe({ dev, ino, size, mtimeMs, ctimeMs }: Stats, isPlain: boolean): PathFingerprint {
  return { dev, ino, size, mtimeMs, ctimeMs, isPlain };
}

function isSamePath(one: StatFields | null | undefined, other: typeof one): boolean {
  if (!one || !other) return one === other;
  return (
    one.ino === other.ino &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs &&
    one.size === other.size &&
    one.dev === other.dev
  );
}

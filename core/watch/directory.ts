import type { Dirent, Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createFileDiagnostic, type Diagnostic } from '../document/diagnostic.js';
import { describeUnreadable, FileError, readTextFile } from '../document/read-file.js';
import { compareNames } from '../lib/compare-texts.js';

/**
 * Lists a folder repeatedly. The types of the entries are read again only when the names have changed, or
 * when an entry, such as a link, may change its type and keep its name.
 */
export class DirectoryLister {
  readonly #directory: string;
  #last: DirectoryNames | null = null;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws UnreadableDirectory when the folder is missing or unreadable. */
  async list(): Promise<DirectoryNames> {
    const last = this.#last;
    if (
      last?.plainEntries &&
      isDeepStrictEqual(await listNames(this.#directory), last.plainEntries)
    ) {
      return last;
    }
    this.#last = await listDirectory(this.#directory, MAX_DESCRIPTORS);
    return this.#last;
  }

  /** Reads all types again at the next call. */
  forget(): void {
    this.#last = null;
  }
}

/** A descriptor file: its text, or the reason why it cannot be read. */
export type DirectoryFile = {
  /** The name in the folder. */
  readonly file: string;
  /** Absolute if the path of the folder is. */
  readonly path: string;
} & ({ readonly text: string } | { readonly diagnostic: Diagnostic });

export interface IgnoredFile {
  readonly file: string;
  readonly reason: string;
}

export interface DirectoryListing {
  /** Sorted by name, by code unit. */
  readonly files: readonly DirectoryFile[];
  readonly ignored: readonly IgnoredFile[];
}

/** The folder of descriptors does not exist or cannot be read. */
export class UnreadableDirectory extends Error {
  override readonly name = 'UnreadableDirectory';
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder',
};

/**
 * The maximum number of descriptors: each is a module with its own memory. The first names count.
 */
const MAX_DESCRIPTORS = 20_000;
/** The maximum number of listed ignored files. */
const MAX_IGNORED = 1000;
/**
 * The maximum length of a name: file systems allow 255 bytes. The rest is for the endings of files
 * that the host writes for a descriptor.
 */
const MAX_NAME_BYTES = 240;
/** Replaces bytes of a name that are not valid UTF-8: the file cannot be opened by this name. */
const REPLACEMENT_CHARACTER = '\ufffd';

/** The folder for the state of each descriptor, within the folder of descriptors. */
export const STATUS_FOLDER = '.status';

/** Endings of temporary files of editors, and of files that operators have disabled. */
const IGNORED_ENDINGS = ['~', '.tmp', '.bak', '.swp', '.disabled'];
const MANIFEST_NAME = /\.manifest\.(?:json|ya?ml)$/;
const DESCRIPTOR_NAME = /\.(?:json|ya?ml)$/;

/** The names of the descriptors in a folder, and of all other entries. */
interface DirectoryNames {
  /** Sorted by code unit. */
  readonly names: readonly string[];
  readonly ignored: readonly IgnoredFile[];
  /**
   * All names, in the order of the folder, if every entry is a regular file or a folder that is ignored by
   * its name; otherwise `null`, because an entry may change its type and keep its name.
   */
  readonly plainEntries: readonly string[] | null;
}

/** @throws UnreadableDirectory. A file that cannot be read has a diagnostic in its entry. */
export async function readDirectory(
  directory: string,
  maxDescriptors: number = MAX_DESCRIPTORS,
): Promise<DirectoryListing> {
  const { names, ignored } = await listDirectory(directory, maxDescriptors);
  const files: DirectoryFile[] = [];
  for (const file of names) files.push(await readDirectoryFile(directory, file));
  return { files, ignored };
}

/** @throws UnreadableDirectory when the folder is missing or unreadable. */
async function listDirectory(directory: string, maxDescriptors: number): Promise<DirectoryNames> {
  const names: string[] = [];
  const ignored: IgnoredFile[] = [];
  const entries = await readEntries(directory, (path) => readdir(path, { withFileTypes: true }));
  const isPlain = (entry: Dirent) =>
    entry.isFile() || (entry.isDirectory() && classifyName(entry.name) !== null);
  const plainEntries = entries.every(isPlain) ? entries.map(({ name }) => name) : null;
  for (const entry of entries.toSorted(compareNames)) {
    const { name } = entry;
    const reason = classifyName(name) ?? classifyEntry(name, await readKind(directory, entry));
    if (reason === null && names.length < maxDescriptors) names.push(name);
    else if (ignored.length < MAX_IGNORED) {
      const tooMany = `is beyond the limit of ${maxDescriptors} descriptors`;
      ignored.push({ file: name, reason: reason ?? tooMany });
    }
  }
  return { names, ignored, plainEntries };
}

/** All names, in the order of the folder. @throws UnreadableDirectory */
function listNames(directory: string): Promise<readonly string[]> {
  return readEntries(directory, (path) => readdir(path));
}

/**
 * Never rejects: a file that cannot be read has a diagnostic.
 * @param onOpen called with the status of a regular file before its content is read
 */
export async function readDirectoryFile(
  directory: string,
  file: string,
  onOpen?: (status: Stats) => void,
): Promise<DirectoryFile> {
  const path = join(directory, file);
  try {
    return { file, path, text: await readTextFile(path, onOpen) };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    // The name was listed a moment ago, so the target of a link is probably missing.
    const message =
      error.code === 'file-missing'
        ? 'the file is a link that leads nowhere, or has just been removed'
        : `the file ${error.message}`;
    return { file, path, diagnostic: createFileDiagnostic(file, error.code, message) };
  }
}

async function readEntries<Entry>(
  directory: string,
  read: (path: string) => Promise<Entry[]>,
): Promise<Entry[]> {
  try {
    return await read(directory);
  } catch (error) {
    const reason =
      REASONS[(error as NodeJS.ErrnoException).code ?? ''] ?? describeUnreadable(error);
    throw new UnreadableDirectory(`the modules folder '${directory}' ${reason}`, { cause: error });
  }
}

function classifyName(file: string): string | null {
  if (file.startsWith('.')) return 'starts with a dot';
  const ending = IGNORED_ENDINGS.find((suffix) => file.endsWith(suffix));
  if (ending !== undefined) return `ends in ${ending}`;
  return null;
}

/** Omits the files that descriptors use, the folders that hold such files, and the host's own folder. */
export function omitUsedFiles(
  ignored: readonly IgnoredFile[],
  directory: string,
  used: Iterable<string>,
): readonly IgnoredFile[] {
  const usedPlaces = new Set<string>();
  for (const file of used) {
    for (let path = file; !usedPlaces.has(path); path = dirname(path)) usedPlaces.add(path);
  }
  return ignored.filter(
    ({ file }) => file !== STATUS_FOLDER && !usedPlaces.has(resolve(directory, file)),
  );
}

type Kind = 'file' | 'folder' | 'other' | 'unknown';

function classifyEntry(file: string, kind: Kind): string | null {
  if (kind === 'folder') return 'is a sub-folder';
  if (MANIFEST_NAME.test(file)) return 'is a manifest';
  if (!DESCRIPTOR_NAME.test(file)) return 'does not end in .yaml, .yml or .json';
  if (kind === 'other') return 'is not a regular file';
  if (file.includes(REPLACEMENT_CHARACTER)) return 'has a name that is not valid UTF-8';
  if (Buffer.byteLength(file) > MAX_NAME_BYTES) {
    return `has a name longer than ${MAX_NAME_BYTES} bytes`;
  }
  return null;
}

/** The type of an entry, links followed; `unknown` for a broken link. */
async function readKind(directory: string, entry: Dirent): Promise<Kind> {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  if (!entry.isSymbolicLink()) return 'other';
  try {
    const target = await stat(join(directory, entry.name));
    if (target.isDirectory()) return 'folder';
    return target.isFile() ? 'file' : 'other';
  } catch {
    return 'unknown';
  }
}

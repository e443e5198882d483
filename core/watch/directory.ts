import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createFileDiagnostic, type Diagnostic } from '../document/diagnostic.js';
import { FileError, readTextFile } from '../document/read-file.js';

/**
 * Lists a folder again and again. What kind the entries are of is asked anew only when there are others
 * than before, or one that may become something else and keep its name, as a folder or a link may.
 */
export class DirectoryLister {
  readonly #directory: string;
  #last: DirectoryNames | null = null;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws UnreadableDirectory when the folder is not there or cannot be read. */
  async list(): Promise<DirectoryNames> {
    const last = this.#last;
    if (
      last?.plainEntries &&
      isDeepStrictEqual(await listNames(this.#directory), last.plainEntries)
    ) {
      return last;
    }
    this.#last = await listDirectory(this.#directory);
    return this.#last;
  }

  /** Asks for all kinds at the next time. */
  forget(): void {
    this.#last = null;
  }
}

/** A descriptor as it lies in the folder: its text, or why it has none. */
export type DirectoryFile = {
  /** The name within the folder. */
  readonly file: string;
  /** Absolute if the folder was given so. */
  readonly path: string;
} & ({ readonly text: string } | { readonly finding: Diagnostic });

export interface IgnoredFile {
  readonly file: string;
  readonly reason: string;
}

export interface DirectoryListing {
  /** In the order of their names, compared by code unit. */
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

/** Contract 6: what editors and ops leave beside the real thing. */
const IGNORED_ENDINGS = ['~', '.tmp', '.bak', '.swp', '.disabled'];
const MANIFEST_NAME = /\.manifest\.(?:json|ya?ml)$/;
const DESCRIPTOR_NAME = /\.(?:json|ya?ml)$/;

/** The names of the descriptors in a folder, and what lies beside them. */
export interface DirectoryNames {
  /** In their order, compared by code unit. */
  readonly names: readonly string[];
  readonly ignored: readonly IgnoredFile[];
  /** Links and folders among what is ignored: descriptors may be reached through them. */
  readonly ways: ReadonlySet<string>;
  /**
   * All that the folder holds, in its own order, if it is regular files and folders that are ignored by their names;
   * `null` if there is more, which may become something else and keep its name.
   */
  readonly plainEntries: readonly string[] | null;
}

/** @throws UnreadableDirectory; trouble with one file is told in its entry. */
export async function readDirectory(directory: string): Promise<DirectoryListing> {
  const { names, ignored } = await listDirectory(directory);
  const files: DirectoryFile[] = [];
  for (const file of names) files.push(await readDirectoryFile(directory, file));
  return { files, ignored };
}

/** @throws UnreadableDirectory when the folder is not there or cannot be read. */
export async function listDirectory(directory: string): Promise<DirectoryNames> {
  const names: string[] = [];
  const ignored: IgnoredFile[] = [];
  const ways = new Set<string>();
  const entries = await readEntries(directory, (path) => readdir(path, { withFileTypes: true }));
  const isPlain = (entry: Dirent) =>
    entry.isFile() || (entry.isDirectory() && classifyName(entry.name) !== null);
  const plainEntries = entries.every(isPlain) ? entries.map(({ name }) => name) : null;
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry;
    const reason = classifyName(name) ?? classifyEntry(name, await readKind(directory, entry));
    if (reason === null) names.push(name);
    else {
      ignored.push({ file: name, reason });
      if (!entry.isFile()) ways.add(name);
    }
  }
  return { names, ignored, ways, plainEntries };
}

/** All that the folder holds, in its own order. @throws UnreadableDirectory */
export function listNames(directory: string): Promise<readonly string[]> {
  return readEntries(directory, (path) => readdir(path));
}

/** Never throws for a file that cannot be read: its entry says so. */
export async function readDirectoryFile(directory: string, file: string): Promise<DirectoryFile> {
  const path = join(directory, file);
  try {
    return { file, path, text: await readTextFile(path) };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    // The name was listed a moment ago, so what is missing is what a link leads to.
    const message =
      error.code === 'file-missing'
        ? 'the file is a link that leads nowhere, or has just been removed'
        : `the file ${error.message}`;
    return { file, path, finding: createFileDiagnostic(file, error.code, message) };
  }
}

async function readEntries<Entry>(
  directory: string,
  read: (path: string) => Promise<Entry[]>,
): Promise<Entry[]> {
  try {
    return await read(directory);
  } catch (error) {
    const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ''] ?? 'cannot be read';
    throw new UnreadableDirectory(`the modules folder '${directory}' ${reason}`, { cause: error });
  }
}

function classifyName(file: string): string | null {
  if (file.startsWith('.')) return 'starts with a dot';
  const ending = IGNORED_ENDINGS.find((one) => file.endsWith(one));
  if (ending !== undefined) return `ends in ${ending}`;
  return null;
}

/** Without the files that descriptors use, and the folders that hold such files. */
export function omitUsedFiles(
  ignored: readonly IgnoredFile[],
  directory: string,
  used: readonly string[],
): readonly IgnoredFile[] {
  return ignored.filter(({ file }) => {
    const path = resolve(directory, file);
    return !used.some((name) => name === path || name.startsWith(path + sep));
  });
}

type Kind = 'file' | 'folder' | 'other' | 'unknown';

function classifyEntry(file: string, kind: Kind): string | null {
  if (kind === 'folder') return 'is a sub-folder';
  if (MANIFEST_NAME.test(file)) return 'is a manifest';
  if (!DESCRIPTOR_NAME.test(file)) return 'does not end in .yaml, .yml or .json';
  return kind === 'other' ? 'is not a regular file' : null;
}

/** What an entry stands for, links followed; `unknown` for a link that leads nowhere. */
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

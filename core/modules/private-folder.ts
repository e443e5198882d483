import { randomUUID } from 'node:crypto';
import { constants, lstatSync } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError, readHostFile } from '../document/read-file.js';
import { createFolder } from '../lib/create-folder.js';

const CREATE_FLAGS =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const MAX_BYTES = 64 * 1024 * 1024;

interface PrivateFolderOptions {
  /** Whether to create the parent folders too. */
  readonly recursive: boolean;
  readonly folderMode: number;
  readonly fileMode: number;
}

/**
 * A folder of regular files that only the host writes. Symbolic links in place of the folder or a file are
 * never followed: otherwise a user with write access could make the host change files elsewhere.
 */
export class PrivateFolder {
  readonly #path: string;
  readonly #options: PrivateFolderOptions;

  constructor(path: string, options: PrivateFolderOptions) {
    this.#path = path;
    this.#options = options;
  }

  /**
   * Identifies the folder: the value changes when the folder is replaced; `null` when it does not
   * exist. Never rejects.
   */
  async identify(): Promise<string | null> {
    const status = await lstat(this.#path).catch(() => null);
    return status === null ? null : `${status.dev} ${status.ino} ${status.birthtimeMs}`;
  }

  /** The names of the regular files; none when the folder does not exist. */
  async list(): Promise<string[]> {
    if (!this.#exists()) return [];
    const entries = await readdir(this.#path, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  }

  /** `null` when the file does not exist. */
  async read(name: string): Promise<string | null> {
    if (!this.#exists()) return null;
    try {
      const bytes = await readHostFile(join(this.#path, name), MAX_BYTES);
      return bytes.toString();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (error.code === 'file-missing') return null;
      const problem = error.code === 'file-too-large' ? 'is larger than 64 MiB' : error.message;
      throw new Error(`${name} ${problem}`, { cause: error });
    }
  }

  /** Writes a new file and renames it, so that a crash leaves the old content or the new one. */
  async write(name: string, text: string): Promise<void> {
    const path = join(this.#path, name);
    await rename(await this.#writeTemporary(`${path}.new`, text), path);
  }

  /**
   * Writes a file unless one has the name. Of several processes that do so at once, one succeeds.
   */
  async create(name: string, text: string): Promise<void> {
    const path = join(this.#path, name);
    const temporary = await this.#writeTemporary(`${path}.${randomUUID()}.new`, text);
    await link(temporary, path).catch(ignoreExisting);
    await rm(temporary, { force: true });
  }

  async #writeTemporary(path: string, text: string): Promise<string> {
    const { recursive, folderMode: mode, fileMode } = this.#options;
    if (!this.#exists()) {
      await (recursive ? createFolder(this.#path, mode) : mkdir(this.#path, { mode }));
    }
    // A crash may have left a file; `rm` removes a link, not its target.
    await rm(path, { force: true });
    const file = await open(path, CREATE_FLAGS, fileMode);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    return path;
  }

  /** Removes a regular file; anything else stays. */
  async remove(name: string): Promise<void> {
    if (!this.#exists()) return;
    const path = join(this.#path, name);
    const status = await lstat(path).catch(ignoreMissing);
    if (status?.isFile()) await rm(path, { force: true });
  }

  /** @throws Error for anything but a folder, such as a symbolic link. */
  #exists(): boolean {
    // The state folder is local, and this runs for each module of a start.
    const status = lstatSync(this.#path, { throwIfNoEntry: false });
    if (status === undefined) return false;
    if (status.isDirectory()) return true;
    throw new Error(`${this.#path} is not a folder: remove it`);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

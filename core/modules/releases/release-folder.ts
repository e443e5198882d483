import {
  lstat,
  mkdtemp,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RELEASE_LINK, releasesFolder } from '../../config/modules-folder.js';
import { createFolder } from '../../lib/create-folder.js';
import { mapConcurrently } from '../../lib/promises.js';
import type { ReleaseFiles } from './release-files.js';

/** The target of the link before the first release. */
const NONE = 'none';
const RELEASE = /^[0-9a-f]{64}$/;
const TEMPORARY = 'new-';
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Older unfinished folders are left over: no release takes this long to write. */
const LEFT_OVER_MS = 3_600_000;
/** Limits concurrent writes and removals: each waits for the disk. */
const FILES_AT_ONCE = 16;

/**
 * The copies of releases in the state folder: one folder each, and a link to the served one, so
 * that all files change at once.
 */
export class ReleaseFolder {
  readonly #path: string;

  constructor(stateDir: string) {
    this.#path = releasesFolder(stateDir);
  }

  /** Reads the release that is the target of the link; `null` for none. */
  async read(): Promise<string | null> {
    const target = await readlink(join(this.#path, RELEASE_LINK)).catch(() => NONE);
    const name = basename(target);
    return RELEASE.test(name) ? `sha256:${name}` : null;
  }

  /** Reads the time when the link was made; `null` without one. */
  async readSince(): Promise<Date | null> {
    const status = await lstat(join(this.#path, RELEASE_LINK)).catch(() => null);
    return status?.mtime ?? null;
  }

  /** Creates the folder, which is empty before the first release. */
  async prepare(): Promise<void> {
    await createFolder(this.#path, FOLDER_MODE);
    const isThere = await stat(join(this.#path, RELEASE_LINK)).catch(() => null);
    if (isThere === null) await this.useNothing();
  }

  async useNothing(): Promise<void> {
    await createFolder(join(this.#path, NONE), FOLDER_MODE);
    await this.#link(NONE);
  }

  /** Writes the files unless they exist, and serves them. */
  async use(release: string, files: ReleaseFiles): Promise<void> {
    const name = release.replace(/^sha256:/, '');
    if (!RELEASE.test(name)) throw new Error('the name of a release is not a digest');
    const before = await this.read();
    const target = join(this.#path, name);
    if (!(await exists(target))) {
      const written = await this.#write(files, { isDurable: true });
      // Another process of the host may have written it first.
      await rename(written, target).catch(() => removeFolder(written));
    }
    await this.#link(name);
    // The previous one may still be read, such as by a module that imports its files late.
    await this.#clean(
      new Set([name, ...(before === null ? [] : [before.slice('sha256:'.length)])]),
    );
  }

  /** Writes the files into a new folder. @returns its path */
  async #write(
    files: ReleaseFiles,
    { isDurable }: { readonly isDurable: boolean },
  ): Promise<string> {
    await createFolder(this.#path, FOLDER_MODE);
    const folder = await mkdtemp(join(this.#path, TEMPORARY));
    await mapConcurrently([...files], FILES_AT_ONCE, async ([path, content]) => {
      const file = join(folder, path);
      await createFolder(dirname(file), FOLDER_MODE);
      await writeFile(file, content, { flag: 'wx', mode: FILE_MODE, flush: isDurable });
    });
    return folder;
  }

  /** Runs work on a folder with the files, which is removed afterwards. */
  async withFiles<T>(files: ReleaseFiles, work: (folder: string) => Promise<T>): Promise<T> {
    const folder = await this.#write(files, { isDurable: false });
    try {
      return await work(folder);
    } finally {
      await removeFolder(folder);
    }
  }

  /** Replaces the link at once. */
  async #link(name: string): Promise<void> {
    const link = join(this.#path, RELEASE_LINK);
    if ((await readlink(link).catch(() => null)) === name) return;
    const next = `${await mkdtemp(join(this.#path, TEMPORARY))}/${RELEASE_LINK}`;
    await symlink(name, next);
    await rename(next, link);
    await removeFolder(dirname(next));
  }

  async #clean(keptNames: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#path)) {
      if (keptNames.has(name) || !(RELEASE.test(name) || (await this.#isLeftOver(name)))) continue;
      await removeFolder(join(this.#path, name));
    }
  }

  /** Whether it is an unfinished folder of a process that was killed. */
  async #isLeftOver(name: string): Promise<boolean> {
    if (!name.startsWith(TEMPORARY)) return false;
    const status = await stat(join(this.#path, name)).catch(() => null);
    return status !== null && Date.now() - status.mtimeMs > LEFT_OVER_MS;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

/** Unlike a recursive `rm`, which begins to remove all files of a folder in one turn of the event loop. */
async function removeFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  await mapConcurrently(entries, FILES_AT_ONCE, (entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? removeFolder(path) : rm(path, { force: true });
  });
  await rm(folder, { recursive: true, force: true });
}

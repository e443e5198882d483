import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../contract/index.js';

/** The last version of a descriptor that served. Holds references, never secrets. */
export interface LastGood {
  /** The text of the descriptor. */
  readonly text: string;
  /** The manifest that it served with, as JSON. */
  readonly manifest: unknown;
  /** The input digest of a version that was rolled back to this one; `null` when none was. */
  readonly rejected: string | null;
}

const ENDING = '.json';

/**
 * Keeps, for each descriptor file, the version that served last, so that a bad file or a provider that
 * is down costs nothing even after a restart. Trouble with the folder is logged and costs only that.
 */
export class LastGoodStore {
  readonly #directory: string;
  readonly #log: Log;
  /** What is on disk, to write nothing twice. */
  readonly #written = new Map<string, string>();

  constructor(stateDir: string, log: Log) {
    this.#directory = join(stateDir, 'last-good');
    this.#log = log;
  }

  /** `null` when there is none, or none that can be read. */
  async read(file: string): Promise<LastGood | null> {
    try {
      const text = await readFile(this.#path(file), 'utf8');
      const kept: unknown = JSON.parse(text);
      this.#written.set(file, text);
      return isLastGood(kept) ? kept : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#report(file, error);
      return null;
    }
  }

  /** Written beside and renamed: a crash leaves the one before or this one. */
  async write(file: string, { text, manifest, rejected }: LastGood): Promise<void> {
    const json = JSON.stringify({ text, manifest, rejected });
    if (this.#written.get(file) === json) return;
    try {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      const path = this.#path(file);
      await writeFile(`${path}.new`, json, { mode: 0o600 });
      await rename(`${path}.new`, path);
      this.#written.set(file, json);
    } catch (error) {
      this.#report(file, error);
    }
  }

  async remove(file: string): Promise<void> {
    this.#written.delete(file);
    await rm(this.#path(file), { force: true }).catch((error) => this.#report(file, error));
  }

  /** Removes what belongs to descriptors that are no more. */
  async keepOnly(files: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#directory).catch(() => []);
    const kept = new Set([...files].map((file) => `${encodeURIComponent(file)}${ENDING}`));
    await Promise.all(
      names
        .filter((name) => !kept.has(name))
        .map((name) => rm(join(this.#directory, name), { force: true })),
    );
  }

  #path(file: string): string {
    return join(this.#directory, `${encodeURIComponent(file)}${ENDING}`);
  }

  #report(file: string, error: unknown): void {
    this.#log.warn({ err: error, file }, 'the last good version of a descriptor cannot be kept');
  }
}

function isLastGood(value: unknown): value is LastGood {
  return (
    typeof value === 'object' &&
    value !== null &&
    'manifest' in value &&
    'rejected' in value &&
    'text' in value &&
    typeof value.text === 'string'
  );
}

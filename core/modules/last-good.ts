import { createHash } from 'node:crypto';
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

/** Where the last good versions are kept. */
export interface LastGoodKeeper {
  /** `null` when there is none, or none that can be read. */
  read(file: string): Promise<LastGood | null>;
  /** Nobody waits for the disk. */
  write(file: string, lastGood: LastGood): void;
  remove(file: string): void;
  /** Resolves when everything asked for so far is on disk. */
  flush(): Promise<void>;
  /** Removes what belongs to descriptors that are no more. */
  keepOnly(files: ReadonlySet<string>): Promise<void>;
}

const ENDING = '.json';

/**
 * Keeps, for each descriptor file, the version that served last, so that a bad file or a provider that
 * is down costs nothing even after a restart. Nobody waits for the disk: what is to be kept is written in
 * turn. Trouble with the folder is logged and costs only that.
 */
export class LastGoodStore implements LastGoodKeeper {
  readonly #directory: string;
  readonly #log: Log;
  /** The hash of what is on disk, to write nothing twice. */
  readonly #written = new Map<string, string>();
  /** What is to be on disk, by file; `null` is nothing. */
  readonly #wanted = new Map<string, string | null>();
  #work: Promise<void> | null = null;

  constructor(stateDir: string, log: Log) {
    this.#directory = join(stateDir, 'last-good');
    this.#log = log;
  }

  async read(file: string): Promise<LastGood | null> {
    try {
      const text = await this.#readText(file);
      const kept: unknown = text === null ? null : JSON.parse(text);
      return isLastGood(kept) ? kept : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#report(file, error);
      return null;
    }
  }

  write(file: string, { text, manifest, rejected }: LastGood): void {
    this.#want(file, JSON.stringify({ text, manifest, rejected }));
  }

  remove(file: string): void {
    this.#want(file, null);
  }

  async flush(): Promise<void> {
    await this.#work;
  }

  async keepOnly(files: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#directory).catch(() => []);
    const kept = new Set([...files].map((file) => `${encodeURIComponent(file)}${ENDING}`));
    await Promise.all(
      names
        .filter((name) => !kept.has(name))
        .map((name) => rm(join(this.#directory, name), { force: true })),
    );
  }

  async #readText(file: string): Promise<string | null> {
    const wanted = this.#wanted.get(file);
    if (wanted !== undefined) return wanted;
    const text = await readFile(this.#path(file), 'utf8');
    this.#written.set(file, hash(text));
    return text;
  }

  #want(file: string, text: string | null): void {
    this.#wanted.set(file, text);
    this.#work ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const [file, text] = next;
      try {
        await (text === null ? this.#unlink(file) : this.#replace(file, text));
      } catch (error) {
        this.#report(file, error);
      }
      // Unless it is to be something else by now: then it is next.
      if (this.#wanted.get(file) === text) this.#wanted.delete(file);
    }
    this.#work = null;
  }

  #next(): readonly [file: string, text: string | null] | null {
    for (const entry of this.#wanted) return entry;
    return null;
  }

  async #unlink(file: string): Promise<void> {
    this.#written.delete(file);
    await rm(this.#path(file), { force: true });
  }

  /** Written beside and renamed: a crash leaves the one before or this one. */
  async #replace(file: string, text: string): Promise<void> {
    const path = this.#path(file);
    const known = this.#written.get(file) ?? hash(await readFile(path, 'utf8').catch(() => ''));
    const wanted = hash(text);
    this.#written.set(file, wanted);
    if (known === wanted) return;
    try {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    } catch (error) {
      this.#written.delete(file);
      throw error;
    }
  }

  #path(file: string): string {
    return join(this.#directory, `${encodeURIComponent(file)}${ENDING}`);
  }

  #report(file: string, error: unknown): void {
    this.#log.warn({ err: error, file }, 'the last good version of a descriptor cannot be kept');
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
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

import { join } from 'node:path';
import type { Log } from '../contract/index.js';
import { isTransient } from '../document/transient-error.js';
import type { Leadership } from '../processes.js';
import { BackgroundWriter } from './background-writer.js';
import { PrivateFolder } from './private-folder.js';

/** The last version of a descriptor that served. Holds references, never secrets. */
export interface LastGood {
  readonly text: string;
  /** The manifest that it served with, as JSON. */
  readonly manifest: unknown;
  /** The input digest of a version that was rolled back to this one; `null` when there is none. */
  readonly rejected: string | null;
}

export interface LastGoodKeeper {
  /**
   * `null` when there is none, or it cannot be read.
   * @throws a transient error
   */
  read(file: string): Promise<LastGood | null>;
  /** Returns at once; the file is written later. */
  write(file: string, lastGood: LastGood): void;
  remove(file: string): void;
  /** Writes nothing until the promise settles. Absent where another process writes. */
  defer?(until: Promise<unknown>): void;
  /** Resolves when all pending writes are on disk. */
  flush(): Promise<void>;
  /**
   * Identifies the folder: the value changes when the folder is replaced; `null` when it does not
   * exist. Never rejects.
   */
  identifyFolder(): Promise<string | null>;
  /** Removes the versions of other descriptors. */
  keepOnly(files: ReadonlySet<string>): Promise<void>;
}

/**
 * Stores the last serving version of each descriptor, so that it can serve even after a restart with an
 * invalid file or a provider that is down. Problems with the folder are only logged.
 */
export class LastGoodStore implements LastGoodKeeper {
  readonly #folder: PrivateFolder;
  readonly #log: Log;
  readonly #writes: BackgroundWriter;
  /** Whether nothing is written at the moment. */
  #isDeferred = false;
  /** The names in the folder while nothing is written; `null` if they are unknown. */
  #names: ReadonlySet<string> | null = null;

  constructor(stateDir: string, log: Log) {
    const options = { recursive: true, folderMode: 0o700, fileMode: 0o600 };
    this.#folder = new PrivateFolder(join(stateDir, 'last-good'), options);
    this.#log = log;
    this.#writes = new BackgroundWriter({
      write: (file, text) => (text === null ? this.#remove(file) : this.#replace(file, text)),
      log,
      failed: 'last good versions cannot be stored',
      recovered: 'last good versions stored again',
    });
  }

  async read(file: string): Promise<LastGood | null> {
    try {
      const text = await this.#readText(file);
      const storedVersion: unknown = text === null ? null : JSON.parse(text);
      return isLastGood(storedVersion) ? storedVersion : null;
    } catch (error) {
      if (isTransient(error)) throw error;
      this.#log.warn({ err: error, file }, 'last good version cannot be read');
      return null;
    }
  }

  write(file: string, { text, manifest, rejected }: LastGood): void {
    this.#writes.set(file, JSON.stringify({ text, manifest, rejected }));
  }

  remove(file: string): void {
    this.#writes.set(file, null);
  }

  defer(until: Promise<unknown>): void {
    this.#writes.defer(until);
    this.#isDeferred = true;
    const end = () => {
      this.#isDeferred = false;
      this.#names = null;
    };
    void until.then(end, end);
  }

  flush(): Promise<void> {
    return this.#writes.flush();
  }

  identifyFolder(): Promise<string | null> {
    return this.#folder.identify();
  }

  async keepOnly(files: ReadonlySet<string>): Promise<void> {
    const keptNames = new Set([...files].map(fileName));
    try {
      const names = await this.#folder.list();
      for (const name of names) if (!keptNames.has(name)) await this.#folder.remove(name);
      if (this.#isDeferred) this.#names = new Set(names);
    } catch (error) {
      this.#log.warn({ err: error }, 'last good versions cannot be cleaned up');
    }
  }

  async #readText(file: string): Promise<string | null> {
    const queued = this.#writes.find(file);
    if (queued !== undefined) return queued;
    const name = fileName(file);
    return this.#names?.has(name) === false ? null : this.#folder.read(name);
  }

  #remove(file: string): Promise<void> {
    return this.#folder.remove(fileName(file));
  }

  async #replace(file: string, text: string): Promise<void> {
    const name = fileName(file);
    // A file that is missing or cannot be read is replaced.
    const stored = await this.#folder.read(name).catch(() => null);
    if (stored !== text) await this.#folder.write(name, text);
  }
}

interface LostVersionsOptions {
  readonly lastGood: LastGoodKeeper;
  readonly leadership: Leadership;
  readonly log: Log;
  /** Stores the last good version of every module again. */
  readonly writeAgain: () => void;
}

/**
 * Detects that the folder of last good versions was removed or replaced. Otherwise only later
 * changes would be written, and the other modules would be missing after a restart.
 */
export class LostVersions {
  readonly #options: LostVersionsOptions;
  #folder: string | null = null;

  constructor(options: LostVersionsOptions) {
    this.#options = options;
  }

  /** Called at each poll. Never rejects. */
  async check(): Promise<void> {
    const { lastGood, leadership, log, writeAgain } = this.#options;
    const before = this.#folder;
    this.#folder = await lastGood.identifyFolder();
    if (before === null || before === this.#folder || !leadership.leads) return;
    log.warn({}, 'last good versions removed: writing them again');
    writeAgain();
  }
}

function fileName(file: string): string {
  return `${file}.json`;
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

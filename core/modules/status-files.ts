import { join } from 'node:path';
import type { Log } from '../contract/index.js';
import type { ModuleCondition } from '../contract/module-status.js';
import { STATUS_FOLDER } from '../watch/directory.js';
import { BackgroundWriter } from './background-writer.js';
import { describeDigests, type ModuleRecord, type ModuleState } from './module-record.js';
import { PrivateFolder } from './private-folder.js';

export interface FileStatus extends ModuleCondition<ModuleState> {
  readonly module: string | null;
}

/** Receives the status of each descriptor. */
export interface StatusSink {
  write(status: FileStatus): void;
  remove(file: string): void;
  /** Removes the status of all other descriptors. */
  keepOnly(files: ReadonlySet<string>): void;
  /** Writes nothing until the promise settles. Absent where another process writes. */
  defer?(until: Promise<unknown>): void;
  /** Resolves when all pending writes are done. */
  flush(): Promise<void>;
}

export function describeFileStatus(record: ModuleRecord): FileStatus {
  const { file, name, state, since, reason, hint, mounts } = record;
  return {
    file,
    module: name,
    state,
    ...describeDigests(record),
    since: since.toISOString(),
    ...(mounts.length > 0 && { mounts }),
    reason,
    hint,
  };
}

/**
 * One file per descriptor in `modules.d/.status/`, which shows the state to the author of a
 * descriptor. They are a convenience: a failed write is logged once, and repeated when it is
 * possible again.
 */
export class StatusFiles implements StatusSink {
  readonly #folder: PrivateFolder;
  readonly #writes: BackgroundWriter;
  #cleaning: Promise<void> = Promise.resolve();

  constructor(modulesDir: string, log: Log) {
    // Not recursive: a missing folder of descriptors must not be created as an empty one.
    const options = { recursive: false, folderMode: 0o777, fileMode: 0o666 };
    const folder = new PrivateFolder(join(modulesDir, STATUS_FOLDER), options);
    this.#folder = folder;
    this.#writes = new BackgroundWriter({
      write: (name, text) => (text === null ? folder.remove(name) : folder.write(name, text)),
      log,
      failed: 'status files cannot be written',
      recovered: 'status files written again',
    });
  }

  write(status: FileStatus): void {
    this.#writes.set(fileName(status.file), `${JSON.stringify(status, null, 2)}\n`);
  }

  remove(file: string): void {
    this.#writes.set(fileName(file), null);
  }

  keepOnly(files: ReadonlySet<string>): void {
    const keptNames = new Set([...files].map(fileName));
    this.#writes.keepOnly(keptNames);
    this.#cleaning = this.#cleaning.then(() => this.#removeOthers(keptNames));
  }

  defer(until: Promise<unknown>): void {
    this.#writes.defer(until);
  }

  async flush(): Promise<void> {
    await this.#cleaning;
    await this.#writes.flush();
  }

  /** Never rejects. */
  async #removeOthers(keptNames: ReadonlySet<string>): Promise<void> {
    try {
      for (const name of await this.#folder.list()) {
        // A descriptor may have been added meanwhile.
        if (!keptNames.has(name) && this.#writes.find(name) === undefined)
          this.#writes.set(name, null);
      }
    } catch (error) {
      this.#writes.report(error);
    }
  }
}

function fileName(file: string): string {
  return `${file}.json`;
}

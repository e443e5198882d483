import { join } from 'node:path';
import type { Log } from '../contract/index.js';
import { STATUS_FOLDER } from '../watch/directory.js';
import type { ModuleRecord } from './module-record.js';
import { OwnFolder } from './own-folder.js';

/** The content of a status file. */
export type FileStatus = ReturnType<typeof describeFileStatus>;

/** Receives the status of each descriptor. */
export interface StatusSink {
  write(status: FileStatus): void;
  remove(file: string): void;
  /** Removes the status of all other descriptors. */
  keepOnly(files: ReadonlySet<string>): void;
  /** Resolves when all pending writes are done. */
  flush(): Promise<void>;
}

export function describeFileStatus(record: ModuleRecord) {
  const { file, name, state, since, reason, hint, live, fileDigest, rejected } = record;
  return {
    file,
    module: name,
    state,
    digest: live?.manifestDigest ?? null,
    config_digest: live?.configDigest ?? null,
    file_digest: fileDigest,
    rejected_digest: rejected?.file ?? null,
    rejected_manifest_digest: rejected?.manifest ?? null,
    rejected_config_digest: rejected?.config ?? null,
    since: since.toISOString(),
    reason,
    hint,
  };
}

/**
 * One file per descriptor in `modules.d/.status/`, where the author of a descriptor sees its state. They
 * are a convenience: a failure to write them is logged once and has no other effect.
 */
export class StatusFiles implements StatusSink {
  readonly #folder: OwnFolder;
  readonly #log: Log;
  #work: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(modulesDir: string, log: Log) {
    // Not recursive: a missing folder of descriptors must not be created as an empty one.
    const options = { recursive: false, folderMode: 0o777, fileMode: 0o666 };
    this.#folder = new OwnFolder(join(modulesDir, STATUS_FOLDER), options);
    this.#log = log;
  }

  write(status: FileStatus): void {
    const text = `${JSON.stringify(status, null, 2)}\n`;
    this.#enqueue(() => this.#folder.write(fileName(status.file), text));
  }

  remove(file: string): void {
    this.#enqueue(() => this.#folder.remove(fileName(file)));
  }

  keepOnly(files: ReadonlySet<string>): void {
    const kept = new Set([...files].map(fileName));
    this.#enqueue(async () => {
      const outdated = (await this.#folder.list()).filter((name) => !kept.has(name));
      for (const name of outdated) await this.#folder.remove(name);
    });
  }

  flush(): Promise<void> {
    return this.#work;
  }

  /** In order, so that the last status of a file wins. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).then(
      () => {
        this.#hasFailed = false;
      },
      (error) => this.#report(error),
    );
  }

  #report(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#log.warn({ err: error }, 'status files cannot be written');
  }
}

function fileName(file: string): string {
  return `${file}.json`;
}

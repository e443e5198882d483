import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModuleRecord } from './module-record.js';

/** What became of a descriptor, as the folder of descriptors tells it. */
export type FileStatus = ReturnType<typeof describeFileStatus>;

/** Who is told what becomes of descriptors. */
export interface StatusSink {
  write(status: FileStatus): void;
  remove(file: string): void;
  /** What tells of other files is of descriptors that are no more. */
  keepOnly(files: ReadonlySet<string>): void;
  /** Resolves when everything asked for so far is done. */
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

const ENDING = '.json';

/**
 * One file a descriptor in `modules.d/.status/`, so that who edits a descriptor sees beside it what the
 * host made of it. A folder that cannot be written to is no trouble: then there are no such files.
 */
export class StatusFiles implements StatusSink {
  readonly #directory: string;
  #work: Promise<void> = Promise.resolve();

  constructor(modulesDir: string) {
    this.#directory = join(modulesDir, '.status');
  }

  write(status: FileStatus): void {
    const text = `${JSON.stringify(status, null, 2)}\n`;
    this.#enqueue(() => this.#replace(status.file, text));
  }

  remove(file: string): void {
    this.#enqueue(() => rm(this.#path(file), { force: true }));
  }

  keepOnly(files: ReadonlySet<string>): void {
    const kept = new Set([...files].map((file) => `${file}${ENDING}`));
    this.#enqueue(async () => {
      const stale = (await readdir(this.#directory)).filter((name) => !kept.has(name));
      await Promise.all(stale.map((name) => rm(join(this.#directory, name), { force: true })));
    });
  }

  flush(): Promise<void> {
    return this.#work;
  }

  async #replace(file: string, text: string): Promise<void> {
    await this.#createDirectory();
    await writeFile(`${this.#path(file)}.new`, text);
    await rename(`${this.#path(file)}.new`, this.#path(file));
  }

  /** Never the folder of descriptors: one that has vanished would be back, and empty. */
  async #createDirectory(): Promise<void> {
    try {
      await mkdir(this.#directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }

  #path(file: string): string {
    return join(this.#directory, `${file}${ENDING}`);
  }

  /** One after the other, so that the last word on a file is the last one written. */
  #enqueue(write: () => Promise<void>): void {
    this.#work = this.#work.then(write).catch(() => {});
  }
}

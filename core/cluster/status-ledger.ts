import type { LastGood, LastGoodKeeper } from '../modules/last-good.js';
import type { FileStatus, StatusSink } from '../modules/status-files.js';
import { type MergedStatus, mergeStatus, type WorkerReport } from './merge-status.js';

export interface StatusLedgerOptions {
  /** `null`: no status files. */
  readonly statusFiles: StatusSink | null;
  readonly lastGood: LastGoodKeeper;
}

/**
 * What the workers say of their descriptors, as one word for all of them, and the files that are written
 * of it: the primary alone writes, and it lives as long as the host.
 */
export class StatusLedger {
  readonly #statusFiles: StatusSink | null;
  readonly #lastGood: LastGoodKeeper;
  /** By file, then by worker. */
  readonly #words = new Map<string, Map<number, FileStatus>>();
  /** Since when a descriptor is in the state that it is in for all workers together. */
  readonly #since = new Map<string, { readonly state: string; readonly since: string }>();
  readonly #written = new Map<string, string>();
  #serving: readonly number[] = [];
  #isCleaned = false;

  constructor({ statusFiles, lastGood }: StatusLedgerOptions) {
    this.#statusFiles = statusFiles;
    this.#lastGood = lastGood;
  }

  /** By name, the file that serves under it. */
  get holders(): ReadonlyMap<string, string> {
    const holders = new Map<string, string>();
    for (const [file, words] of this.#words) {
      for (const worker of this.#serving) {
        const { module = null, config_digest = null } = words.get(worker) ?? {};
        if (module !== null && config_digest !== null) holders.set(module, file);
      }
    }
    return holders;
  }

  /** Only the word of those who serve counts. */
  setServing(workers: readonly number[]): void {
    this.#serving = workers;
    for (const file of [...this.#words.keys()]) this.#settle(file);
  }

  note(worker: number, status: FileStatus): void {
    const words = this.#words.get(status.file) ?? new Map<number, FileStatus>();
    this.#words.set(status.file, words);
    words.set(worker, status);
    this.#settle(status.file);
  }

  noteRemoved(worker: number, file: string): void {
    const words = this.#words.get(file);
    words?.delete(worker);
    if (words?.size === 0) this.#words.delete(file);
    this.#settle(file);
  }

  /** The worker has gone, and its words with it. */
  forget(worker: number): void {
    for (const words of this.#words.values()) words.delete(worker);
  }

  /** Whether the worker serves every version that those who serve agree on. */
  isCaughtUp(worker: number): boolean {
    return [...this.#words].every(([file, words]) => {
      const merged = mergeStatus(this.#list(file));
      if (merged?.state !== 'live') return true;
      return words.get(worker)?.config_digest === merged.config_digest;
    });
  }

  /** The word of all who serve on a descriptor; `null` for one that they have not told of. */
  read(file: string): MergedStatus<FileStatus> | null {
    const merged = mergeStatus(this.#list(file));
    return merged === null ? null : this.#stampSince(merged);
  }

  /** A word that stays the same while workers come and go keeps its time. */
  #stampSince(merged: MergedStatus<FileStatus>): MergedStatus<FileStatus> {
    const { file, state, since } = merged;
    const known = this.#since.get(file);
    if (known?.state === state) return { ...merged, since: known.since };
    this.#since.set(file, { state, since });
    return merged;
  }

  /** `null` forgets it. */
  keepLastGood(file: string, lastGood: LastGood | null): void {
    if (lastGood === null) this.#lastGood.remove(file);
    else this.#lastGood.write(file, lastGood);
  }

  /** Removes what an earlier host has left. Once: later a worker may not know the newest file yet. */
  clean(files: ReadonlySet<string>): void {
    if (this.#isCleaned) return;
    this.#isCleaned = true;
    this.#statusFiles?.keepOnly(files);
    // What cannot be removed is of no descriptor, so that nobody reads it.
    void this.#lastGood.keepOnly(files).catch(() => {});
  }

  /** Resolves when everything so far is written. */
  async flush(): Promise<void> {
    await this.#lastGood.flush();
    await this.#statusFiles?.flush();
  }

  #settle(file: string): void {
    const word = this.read(file);
    if (word === null) {
      if (this.#serving.length === 0) return;
      this.#since.delete(file);
      if (this.#written.delete(file)) this.#statusFiles?.remove(file);
      return;
    }
    const { workers: _, ...status } = word;
    const text = JSON.stringify(status);
    if (this.#written.get(file) === text) return;
    this.#written.set(file, text);
    this.#statusFiles?.write(status);
  }

  #list(file: string): WorkerReport<FileStatus>[] {
    const words = this.#words.get(file);
    return this.#serving.map((worker) => ({ worker, entry: words?.get(worker) ?? null }));
  }
}

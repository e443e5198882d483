import type { LastGood, LastGoodKeeper } from '../../modules/last-good.js';
import { listClaims } from '../../modules/settle-names.js';
import type { FileStatus, StatusSink } from '../../modules/status-files.js';
import { type MergedStatus, mergeStatus, type WorkerReport } from './merge-status.js';

interface StatusLedgerOptions {
  /** `null` without status files. */
  readonly statusFiles: StatusSink | null;
  readonly lastGood: LastGoodKeeper;
}

/**
 * The status that each worker reports for each descriptor, and the files written from it. Only the
 * primary writes them, because it outlives every worker.
 */
export class StatusLedger {
  readonly #statusFiles: StatusSink | null;
  readonly #lastGood: LastGoodKeeper;
  /** The reports by file, then by worker. */
  readonly #reports = new Map<string, Map<number, FileStatus>>();
  /** The merged state of each file and its start. */
  readonly #since = new Map<string, { readonly state: string; readonly since: string }>();
  readonly #written = new Map<string, string>();
  #serving: readonly number[] = [];
  #isCleaned = false;

  constructor({ statusFiles, lastGood }: StatusLedgerOptions) {
    this.#statusFiles = statusFiles;
    this.#lastGood = lastGood;
  }

  /** The file that serves each module name and mount. */
  get holders(): ReadonlyMap<string, string> {
    const holders = new Map<string, string>();
    for (const [file, reports] of this.#reports) {
      for (const worker of this.#serving) {
        const { module = null, config_digest = null, mounts = [] } = reports.get(worker) ?? {};
        if (module === null || config_digest === null) continue;
        for (const claim of listClaims(module, mounts)) holders.set(claim, file);
      }
    }
    return holders;
  }

  /** Only reports of serving workers count. */
  setServing(workers: readonly number[]): void {
    this.#serving = workers;
    for (const file of [...this.#reports.keys()]) this.#publish(file);
  }

  note(worker: number, status: FileStatus): void {
    const reports = this.#reports.get(status.file) ?? new Map<number, FileStatus>();
    this.#reports.set(status.file, reports);
    reports.set(worker, status);
    this.#publish(status.file);
  }

  noteRemoved(worker: number, file: string): void {
    const reports = this.#reports.get(file);
    reports?.delete(worker);
    if (reports?.size === 0) this.#reports.delete(file);
    this.#publish(file);
  }

  /** The merged status of each descriptor that a serving worker has reported. */
  readAll(): ReadonlyMap<string, MergedStatus<FileStatus>> {
    return new Map(
      [...this.#reports.keys()].flatMap((file) => {
        const merged = this.read(file);
        return merged === null ? [] : [[file, merged]];
      }),
    );
  }

  removeWorker(worker: number): void {
    for (const reports of this.#reports.values()) reports.delete(worker);
  }

  /** Whether the worker serves every version that all serving workers agree on. */
  isCaughtUp(worker: number): boolean {
    return [...this.#reports].every(([file, reports]) => {
      const merged = mergeStatus(this.#list(file));
      if (merged?.state !== 'live') return true;
      return reports.get(worker)?.config_digest === merged.config_digest;
    });
  }

  /** The merged status of a descriptor; `null` if no serving worker has reported it. */
  read(file: string): MergedStatus<FileStatus> | null {
    const merged = mergeStatus(this.#list(file));
    return merged === null ? null : this.#withSince(merged);
  }

  /** Keeps `since` while the merged state stays the same, even when workers are replaced. */
  #withSince(merged: MergedStatus<FileStatus>): MergedStatus<FileStatus> {
    const { file, state, since } = merged;
    const last = this.#since.get(file);
    if (last?.state === state) return { ...merged, since: last.since };
    this.#since.set(file, { state, since });
    return merged;
  }

  /** `null` removes the stored version. */
  keepLastGood(file: string, lastGood: LastGood | null): void {
    if (lastGood === null) this.#lastGood.remove(file);
    else this.#lastGood.write(file, lastGood);
  }

  /** Removes files left by an earlier host. Runs only once: later workers may have read an older folder. */
  clean(files: ReadonlySet<string>): void {
    if (this.#isCleaned) return;
    this.#isCleaned = true;
    this.#statusFiles?.keepOnly(files);
    // A leftover that cannot be removed is harmless: it belongs to no descriptor and is never read.
    void this.#lastGood.keepOnly(files).catch(() => {});
  }

  /** Resolves when all pending writes are done. */
  async flush(): Promise<void> {
    await this.#lastGood.flush();
    await this.#statusFiles?.flush();
  }

  #publish(file: string): void {
    const merged = this.read(file);
    if (merged === null) {
      if (this.#serving.length === 0) return;
      this.#since.delete(file);
      if (this.#written.delete(file)) this.#statusFiles?.remove(file);
      return;
    }
    const { workers: _, ...status } = merged;
    const text = JSON.stringify(status);
    if (this.#written.get(file) === text) return;
    this.#written.set(file, text);
    this.#statusFiles?.write(status);
  }

  #list(file: string): WorkerReport<FileStatus>[] {
    const reports = this.#reports.get(file);
    return this.#serving.map((worker) => ({ worker, entry: reports?.get(worker) ?? null }));
  }
}

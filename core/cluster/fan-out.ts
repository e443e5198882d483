import type { Questions, Subject } from './messages.js';
import type { WorkerHandle } from './worker-handle.js';

/** How long an answer waits for a worker whose event loop stands still. Milliseconds. */
const PATIENCE_MS = 1000;

interface Pending {
  readonly missing: Map<number, WorkerHandle>;
  readonly told: Map<WorkerHandle, unknown>;
  end(): void;
}

/** Asks all workers one question and collects what they say. */
export class Gathering {
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /** What each has said; who has gone, or does not answer in time, is left out. */
  ask<S extends Subject>(
    workers: readonly WorkerHandle[],
    subject: S,
    input: Questions[S]['input'],
  ): Promise<ReadonlyMap<WorkerHandle, Questions[S]['told']>> {
    if (workers.length === 0) return Promise.resolve(new Map());
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const told = new Map<WorkerHandle, Questions[S]['told']>();
      const timer = setTimeout(() => this.#pending.get(id)?.end(), PATIENCE_MS);
      const end = () => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve(told);
      };
      const missing = new Map(workers.map((worker) => [worker.id, worker]));
      // What is told on a subject has its type: `told` is filled by the workers' own answers.
      this.#pending.set(id, { missing, told: told as Map<WorkerHandle, unknown>, end });
      for (const worker of workers) worker.send({ type: 'tell', id, subject, input });
    });
  }

  take(worker: WorkerHandle, id: number, told: unknown): void {
    const pending = this.#pending.get(id);
    if (pending === undefined || !pending.missing.delete(worker.id)) return;
    pending.told.set(worker, told);
    if (pending.missing.size === 0) pending.end();
  }

  /** It has gone: nobody waits for it. */
  forget(worker: WorkerHandle): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.missing.delete(worker.id) && pending.missing.size === 0) pending.end();
    }
  }
}

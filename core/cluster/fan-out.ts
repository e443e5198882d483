import { mergeModules } from './merge-modules.js';
import type { Subject, WorkerQuery } from './messages.js';
import type { RetiredMetrics } from './retired-metrics.js';
import type { StatusLedger } from './status-ledger.js';
import type { WorkerHandle, WorkerStage } from './worker-handle.js';

interface QuerySources {
  readonly books: StatusLedger;
  readonly departed: RetiredMetrics;
  readonly list: (...stages: readonly WorkerStage[]) => readonly WorkerHandle[];
}

/** Answers what a worker asks of all workers. */
export class WorkerQueries {
  readonly gathering = new FanOut();
  readonly #sources: QuerySources;

  constructor(sources: QuerySources) {
    this.#sources = sources;
  }

  async answer(asker: WorkerHandle, id: number, subject: Subject, input: unknown): Promise<void> {
    asker.send({ type: 'answer', id, answer: await this.#collect(subject, input) });
  }

  #collect(subject: Subject, input: unknown): Promise<WorkerQuery[Subject]['answer']> {
    switch (subject) {
      case 'modules':
        return this.#collectModules();
      case 'metrics':
        return this.#collectMetrics();
      case 'calls':
        return this.#collectCalls(input as WorkerQuery['calls']['input']);
    }
  }

  async #collectModules(): Promise<WorkerQuery['modules']['answer']> {
    const { books, list } = this.#sources;
    const serving = list('serving');
    const told = await this.gathering.ask(serving, 'modules', null);
    const lists = [...told].map(([{ id }, one]) => ({ worker: id, ...one }));
    return { ...mergeModules(lists, (file) => books.read(file)), workers: serving.length };
  }

  /** Also of those that drain: they still count. */
  async #collectCalls(
    input: WorkerQuery['calls']['input'],
  ): Promise<WorkerQuery['calls']['answer']> {
    const workers = this.#sources.list('serving', 'leaving');
    return [...(await this.gathering.ask(workers, 'calls', input)).values()];
  }

  async #collectMetrics(): Promise<WorkerQuery['metrics']['answer']> {
    const { departed, list } = this.#sources;
    const told = await this.gathering.ask(list('serving', 'leaving'), 'metrics', null);
    for (const [{ id, stage, hasSentFinalMetrics }, snapshot] of told) {
      if (stage !== 'gone' && !hasSentFinalMetrics) departed.note(id, snapshot);
    }
    const gone = await departed.read();
    // From here to the end nobody departs: each worker is in one of the two.
    return { snapshots: departed.listReported(), departed: gone };
  }
}

/** How long an answer waits for a worker whose event loop stands still. Milliseconds. */
const RESPONSE_TIMEOUT_MS = 1000;

interface Pending {
  readonly missing: Map<number, WorkerHandle>;
  readonly told: Map<WorkerHandle, unknown>;
  end(): void;
}

/** Asks all workers one question and collects what they say. */
export class FanOut {
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /** What each has said; who has gone, or does not answer in time, is left out. */
  ask<S extends Subject>(
    workers: readonly WorkerHandle[],
    subject: S,
    input: WorkerQuery[S]['input'],
  ): Promise<ReadonlyMap<WorkerHandle, WorkerQuery[S]['told']>> {
    if (workers.length === 0) return Promise.resolve(new Map());
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const told = new Map<WorkerHandle, WorkerQuery[S]['told']>();
      const timer = setTimeout(() => this.#pending.get(id)?.end(), RESPONSE_TIMEOUT_MS);
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

import { Gathering } from '../cluster/fan-out.js';
import { mergeModules } from '../cluster/merge-modules.js';
import type { Questions, Subject } from '../cluster/messages.js';
import type { DepartedCounts } from '../cluster/retired-metrics.js';
import type { HostBooks } from '../cluster/status-ledger.js';
import type { WorkerHandle, WorkerStage } from '../cluster/worker-handle.js';

interface DeskSources {
  readonly books: HostBooks;
  readonly departed: DepartedCounts;
  readonly list: (...stages: readonly WorkerStage[]) => readonly WorkerHandle[];
}

/** Answers what a worker asks of all workers. */
export class QuestionsDesk {
  readonly gathering = new Gathering();
  readonly #sources: DeskSources;

  constructor(sources: DeskSources) {
    this.#sources = sources;
  }

  async answer(asker: WorkerHandle, id: number, subject: Subject, input: unknown): Promise<void> {
    asker.send({ type: 'answer', id, answer: await this.#collect(subject, input) });
  }

  #collect(subject: Subject, input: unknown): Promise<Questions[Subject]['answer']> {
    switch (subject) {
      case 'modules':
        return this.#collectModules();
      case 'metrics':
        return this.#collectMetrics();
      case 'calls':
        return this.#collectCalls(input as Questions['calls']['input']);
    }
  }

  async #collectModules(): Promise<Questions['modules']['answer']> {
    const { books, list } = this.#sources;
    const serving = list('serving');
    const told = await this.gathering.ask(serving, 'modules', null);
    const lists = [...told].map(([{ id }, one]) => ({ worker: id, ...one }));
    return { ...mergeModules(lists, (file) => books.read(file)), workers: serving.length };
  }

  /** Also of those that drain: they still count. */
  async #collectCalls(input: Questions['calls']['input']): Promise<Questions['calls']['answer']> {
    const workers = this.#sources.list('serving', 'leaving');
    return [...(await this.gathering.ask(workers, 'calls', input)).values()];
  }

  async #collectMetrics(): Promise<Questions['metrics']['answer']> {
    const { departed, list } = this.#sources;
    const told = await this.gathering.ask(list('serving', 'leaving'), 'metrics', null);
    for (const [{ id, stage, hasSaidFarewell }, snapshot] of told) {
      if (stage !== 'gone' && !hasSaidFarewell) departed.note(id, snapshot);
    }
    const gone = await departed.read();
    // From here to the end nobody departs: each worker is in one of the two.
    return { snapshots: departed.listTold(), departed: gone };
  }
}

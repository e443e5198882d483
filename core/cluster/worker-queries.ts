import type { HostAnswers, PrimaryPart } from '../processes.js';
import type { WorkerHandle, WorkerStage } from './worker-handle.js';

/** How long a query waits for a worker whose event loop is blocked. Milliseconds. */
const RESPONSE_TIMEOUT_MS = 1000;

type Responses = ReadonlyMap<WorkerHandle, unknown>;

interface Pending {
  readonly missing: Map<number, WorkerHandle>;
  readonly responses: Map<WorkerHandle, unknown>;
  end(): void;
}

interface QuerySources {
  /** The primary's parts of services, by name. */
  readonly parts: ReadonlyMap<string, PrimaryPart>;
  readonly list: (...stages: readonly WorkerStage[]) => readonly WorkerHandle[];
}

/** Sends a worker's query to all workers and collects their responses. */
export class WorkerQueries {
  readonly #sources: QuerySources;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(sources: QuerySources) {
    this.#sources = sources;
  }

  async answer(from: WorkerHandle, id: number, subject: string, input: unknown): Promise<void> {
    from.send({ type: 'result', id, result: await this.#collect(subject, input) });
  }

  /** Includes draining workers, whose calls still count. */
  async #collect(subject: string, input: unknown): Promise<HostAnswers<unknown, unknown>> {
    const { parts, list } = this.#sources;
    const responses = await this.#request(list('serving', 'draining'), subject, input);
    const part = parts.get(subject);
    for (const [worker, response] of responses) {
      if (worker.stage !== 'exited') part?.observe?.(worker.id, response);
    }
    const known = (await part?.contribute?.()) ?? null;
    const answers = [...responses].map(([{ id, stage }, answer]) => ({
      worker: id,
      isServing: stage === 'serving',
      answer,
    }));
    return { answers, workers: list('serving').length, known };
  }

  /** Omits workers that exit or do not respond in time. */
  #request(workers: readonly WorkerHandle[], subject: string, input: unknown): Promise<Responses> {
    if (workers.length === 0) return Promise.resolve(new Map());
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const responses = new Map<WorkerHandle, unknown>();
      const timer = setTimeout(() => this.#pending.get(id)?.end(), RESPONSE_TIMEOUT_MS);
      const end = () => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve(responses);
      };
      const missing = new Map(workers.map((worker) => [worker.id, worker]));
      this.#pending.set(id, { missing, responses, end });
      for (const worker of workers) worker.send({ type: 'request', id, subject, input });
    });
  }

  receive(worker: WorkerHandle, id: number, response: unknown): void {
    const pending = this.#pending.get(id);
    if (pending === undefined || !pending.missing.delete(worker.id)) return;
    pending.responses.set(worker, response);
    if (pending.missing.size === 0) pending.end();
  }

  /** Stops waiting for a worker that has exited. */
  remove(worker: WorkerHandle): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.missing.delete(worker.id) && pending.missing.size === 0) pending.end();
    }
  }
}

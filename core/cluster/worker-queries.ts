import { mergeModules } from './merge-modules.js';
import type { QueryKind, WorkerQuery } from './messages.js';
import type { RetiredMetrics } from './retired-metrics.js';
import type { StatusLedger } from './status-ledger.js';
import type { WorkerHandle, WorkerStage } from './worker-handle.js';

/** How long a query waits for a worker whose event loop is blocked. Milliseconds. */
const RESPONSE_TIMEOUT_MS = 1000;

interface Pending {
  readonly missing: Map<number, WorkerHandle>;
  readonly responses: Map<WorkerHandle, unknown>;
  end(): void;
}

interface QuerySources {
  readonly ledger: StatusLedger;
  readonly retired: RetiredMetrics;
  readonly list: (...stages: readonly WorkerStage[]) => readonly WorkerHandle[];
}

/** Sends a worker's query to all workers and merges their responses. */
export class WorkerQueries {
  readonly #sources: QuerySources;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(sources: QuerySources) {
    this.#sources = sources;
  }

  async answer(from: WorkerHandle, id: number, subject: QueryKind, input: unknown): Promise<void> {
    from.send({ type: 'result', id, result: await this.#collect(subject, input) });
  }

  #collect(subject: QueryKind, input: unknown): Promise<WorkerQuery[QueryKind]['result']> {
    switch (subject) {
      case 'modules':
        return this.#collectModules();
      case 'metrics':
        return this.#collectMetrics();
      case 'calls':
        return this.#collectCalls(input as WorkerQuery['calls']['input']);
      case 'candidate':
        return this.#collectCandidate(input as WorkerQuery['candidate']['input']);
    }
  }

  async #collectModules(): Promise<WorkerQuery['modules']['result']> {
    const { ledger, list } = this.#sources;
    const serving = list('serving');
    const responses = await this.#request(serving, 'modules', null);
    const reports = [...responses].map(([{ id }, report]) => ({ worker: id, ...report }));
    return { ...mergeModules(reports, (file) => ledger.read(file)), workers: serving.length };
  }

  /** Includes draining workers, whose calls still count. */
  async #collectCalls(
    input: WorkerQuery['calls']['input'],
  ): Promise<WorkerQuery['calls']['result']> {
    const workers = this.#sources.list('serving', 'draining');
    return [...(await this.#request(workers, 'calls', input)).values()].flat();
  }

  async #collectCandidate(
    module: WorkerQuery['candidate']['input'],
  ): Promise<WorkerQuery['candidate']['result']> {
    const workers = this.#sources.list('serving', 'draining');
    return [...(await this.#request(workers, 'candidate', module)).values()];
  }

  async #collectMetrics(): Promise<WorkerQuery['metrics']['result']> {
    const { retired, list } = this.#sources;
    const responses = await this.#request(list('serving', 'draining'), 'metrics', null);
    for (const [{ id, stage, hasSentFinalMetrics }, snapshot] of responses) {
      if (stage !== 'exited' && !hasSentFinalMetrics) retired.note(id, snapshot);
    }
    const total = await retired.read();
    // No worker can retire between these two reads, so each is counted once.
    return { snapshots: retired.listReported(), retired: total };
  }

  /** Omits workers that exit or do not respond in time. */
  #request<S extends QueryKind>(
    workers: readonly WorkerHandle[],
    subject: S,
    input: WorkerQuery[S]['input'],
  ): Promise<ReadonlyMap<WorkerHandle, WorkerQuery[S]['response']>> {
    if (workers.length === 0) return Promise.resolve(new Map());
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const responses = new Map<WorkerHandle, WorkerQuery[S]['response']>();
      const timer = setTimeout(() => this.#pending.get(id)?.end(), RESPONSE_TIMEOUT_MS);
      const end = () => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve(responses);
      };
      const missing = new Map(workers.map((worker) => [worker.id, worker]));
      // A worker responds to a request with the type of its subject.
      const untyped = responses as Map<WorkerHandle, unknown>;
      this.#pending.set(id, { missing, responses: untyped, end });
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

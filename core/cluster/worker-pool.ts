import cluster from 'node:cluster';
import type { Log } from '../contract/index.js';
import type { PrimaryMessage, WorkerMessage } from './messages.js';
import { explainFork, type WorkerExit, WorkerHandle, type WorkerStage } from './worker-handle.js';

/** A worker that takes longer to read its modules is killed. Milliseconds. */
const START_TIMEOUT_MS = 60_000;
const HEARTBEAT_INTERVAL_MS = 1000;
/**
 * Counted instead of timed: after the whole group was suspended (Ctrl-Z, a laptop's sleep), the
 * workers still get this many intervals to respond.
 */
const MAX_PENDING_HEARTBEATS = 5;

interface WorkerPoolOptions {
  readonly log: Log;
  readonly onMessage: (message: WorkerMessage, from: WorkerHandle) => void;
  readonly onExit: (worker: WorkerHandle, exit: WorkerExit) => void;
  /** Called when there is no worker, because the system lacks the resources for one. */
  readonly onFailedFork: (failure: string) => void;
}

/** The worker processes. Kills those that do not start or no longer respond. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Map<number, WorkerHandle>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  start(): void {
    cluster.setupPrimary({ serialization: 'advanced' });
    this.#heartbeat = setInterval(() => this.#checkHeartbeats(), HEARTBEAT_INTERVAL_MS);
  }

  /** @returns `null` if the system lacks the resources for a process, which it may also report later */
  fork(): WorkerHandle | null {
    let worker: WorkerHandle;
    try {
      worker = new WorkerHandle(cluster.fork(), this.#options.onMessage);
    } catch (error) {
      this.#options.onFailedFork(explainFork(error));
      return null;
    }
    this.#workers.set(worker.id, worker);
    const startTimer = setTimeout(() => {
      if (worker.stage === 'starting') worker.kill();
    }, START_TIMEOUT_MS);
    void worker.exited.then((exit) => {
      clearTimeout(startTimer);
      this.#workers.delete(worker.id);
      this.#options.onExit(worker, exit);
    });
    return worker;
  }

  list(...stages: readonly WorkerStage[]): WorkerHandle[] {
    return [...this.#workers.values()].filter(({ stage }) => stages.includes(stage));
  }

  /** @param except the id of a worker that does not receive it */
  broadcast(message: PrimaryMessage, except?: number): void {
    for (const worker of this.#workers.values()) if (worker.id !== except) worker.send(message);
  }

  /** Resolves when every worker has exited. */
  async close(): Promise<void> {
    await Promise.all([...this.#workers.values()].map(({ exited }) => exited));
    clearInterval(this.#heartbeat);
  }

  kill(): void {
    for (const worker of this.#workers.values()) worker.kill();
  }

  /**
   * Kills workers that no longer respond: a stopped process, or one in an endless loop, keeps its
   * share of new connections. Only serving workers are checked: starting and draining workers have
   * separate timeouts.
   */
  #checkHeartbeats(): void {
    for (const worker of this.list('serving')) {
      if (worker.pendingHeartbeats >= MAX_PENDING_HEARTBEATS) {
        const { id, pid } = worker;
        this.#options.log.error({ worker: id, pid }, 'worker unresponsive');
        worker.kill();
      } else {
        worker.pendingHeartbeats += 1;
        worker.send({ type: 'heartbeat' });
      }
    }
  }
}

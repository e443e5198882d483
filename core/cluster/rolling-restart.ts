import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../contract/index.js';
import type { HostPhase } from './messages.js';
import type { WorkerHandle } from './worker-handle.js';
import type { WorkerPool } from './worker-pool.js';

const POLL_MS = 25;

interface RollingRestartOptions {
  readonly pool: WorkerPool;
  /** The number of serving workers. */
  readonly count: number;
  /** The time limit for a replaced worker to drain and close. */
  readonly drainTimeoutMs: number;
  readonly phase: () => HostPhase;
  /** Called when a worker is to get no more connections. */
  readonly onRetired: (worker: WorkerHandle) => void;
  readonly log: Log;
}

/** Replaces one worker after the other without failed requests. Stops when a new worker does not start. */
export class RollingRestart {
  readonly #options: RollingRestartOptions;
  #isRunning = false;
  #extraWorkers = 0;

  constructor(options: RollingRestartOptions) {
    this.#options = options;
  }

  /** One while a worker and its successor run; otherwise none. */
  get extraWorkers(): number {
    return this.#extraWorkers;
  }

  async run(): Promise<void> {
    const { pool, phase, log } = this.#options;
    if (phase() !== 'serving' || this.#isRunning) {
      log.warn({ reason: this.#isRunning ? 'restarting' : phase() }, 'restart ignored');
      return;
    }
    this.#isRunning = true;
    log.info({}, 'restarting');
    const isDone = await this.#replaceAll(pool.list('serving'));
    this.#isRunning = false;
    if (isDone) log.info({}, 'restarted');
    else if (phase() === 'serving') {
      log.error({ reason: 'a new worker did not start' }, 'restart aborted');
    }
  }

  async #replaceAll(workers: readonly WorkerHandle[]): Promise<boolean> {
    for (const old of workers) {
      // A worker that has exited meanwhile was already replaced.
      if (old.stage === 'serving' && !(await this.#replace(old))) return false;
    }
    return this.#options.phase() === 'serving';
  }

  async #replace(old: WorkerHandle): Promise<boolean> {
    const { pool, count, phase } = this.#options;
    this.#extraWorkers = 1;
    const successor = pool.fork();
    if (successor !== null) successor.isSuccessor = true;
    const isUp = successor !== null && (await waitForService(successor));
    this.#extraWorkers = 0;
    if (!isUp || phase() !== 'serving') return false;
    if (old.stage === 'serving') {
      this.#retire(old);
      await old.exited;
    }
    // The old worker may have exited meanwhile and been replaced a second time.
    for (const extra of pool.list('starting', 'serving').slice(count)) this.#retire(extra);
    return true;
  }

  /** Drains a replaced worker. */
  #retire(worker: WorkerHandle): void {
    const { drainTimeoutMs, onRetired } = this.#options;
    const timeoutMs = worker.stage === 'serving' ? drainTimeoutMs : 0;
    worker.stage = 'draining';
    onRetired(worker);
    worker.send({ type: 'drain', isReplaced: true });
    const killTimer = setTimeout(() => worker.kill(), timeoutMs);
    void worker.exited.then(() => clearTimeout(killTimer));
  }
}

async function waitForService(worker: WorkerHandle): Promise<boolean> {
  while (worker.stage === 'starting') await Promise.race([worker.exited, pause(POLL_MS)]);
  return worker.stage === 'serving';
}

import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { MessageSource } from '../processes.js';
import type { PrimaryMessage, WorkerMessage } from './messages.js';

/** A `draining` worker does not count: it has been replaced, or the host stops. */
export type WorkerStage = 'starting' | 'serving' | 'draining' | 'exited';

/** The end of a process, or why there was none. */
export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Set if the system did not create the process, such as for a limit of processes. */
  readonly failure: string | null;
}

export function explainFork(error: unknown): string {
  return `no process can be created: ${(error as NodeJS.ErrnoException | null)?.code ?? 'unknown'}`;
}

/**
 * The maximum number of unread messages of a process; at startup there are some for each module.
 */
export const MAX_UNSENT = 100_000;

/** A worker as seen by the primary. */
export class WorkerHandle implements MessageSource {
  readonly id: number;
  readonly pid: number;
  readonly exited: Promise<WorkerExit>;
  stage: WorkerStage = 'starting';
  /** Whether it replaces a worker that still serves. */
  isSuccessor = false;
  /** Heartbeats sent since the last response. */
  pendingHeartbeats = 0;
  /** The configuration error that prevents its start. */
  misconfiguration: string | null = null;
  readonly #worker: Worker;
  #unsent = 0;

  constructor(worker: Worker, onMessage: (message: WorkerMessage, from: WorkerHandle) => void) {
    this.id = worker.id;
    this.pid = worker.process.pid ?? 0;
    this.#worker = worker;
    worker.on('message', (message: WorkerMessage) => onMessage(message, this));
    this.exited = new Promise((resolve) => {
      worker.once('exit', (code, signal) => resolve({ code, signal, failure: null }));
      // Send errors are ignored: 'exit' reports the end of the process. One that was not created has none.
      worker.on('error', (error: unknown) => {
        if (worker.process.pid !== undefined) return;
        resolve({ code: null, signal: null, failure: explainFork(error) });
      });
    });
  }

  get hasExited(): boolean {
    return this.stage === 'exited';
  }

  /** Does nothing once the worker has disconnected. A worker that does not read is killed. */
  send(message: PrimaryMessage): void {
    if (!this.#worker.isConnected()) return;
    this.#unsent += 1;
    if (this.#unsent > MAX_UNSENT) this.kill();
    else this.#worker.send(message, this.#onSent);
  }

  hand(connection: Socket): void {
    if (!this.#worker.isConnected()) return;
    // Open here until the worker has taken it.
    this.#worker.send({ type: 'connection' }, connection, { keepOpen: true });
  }

  readonly #onSent = (): void => {
    this.#unsent -= 1;
  };

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

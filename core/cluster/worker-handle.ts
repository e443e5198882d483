import type { Worker } from 'node:cluster';
import type { PrimaryMessage, WorkerMessage } from './messages.js';

/** `leaving`: it drains, and others have its place already. */
export type WorkerStage = 'starting' | 'serving' | 'leaving' | 'gone';

/** How a process ended. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker as its primary sees it. */
export class WorkerHandle {
  readonly id: number;
  readonly pid: number;
  readonly exited: Promise<WorkerEnd>;
  stage: WorkerStage = 'starting';
  /** Whether it has been told to listen. */
  isListening = false;
  /** Whether it is to take the place of one that still serves. */
  isSuccessor = false;
  /** Whether it has told all that it counted. */
  hasSentFinalMetrics = false;
  /** Why it cannot start, where that is for ops to put right. */
  misconfiguration: string | null = null;
  readonly #worker: Worker;

  constructor(worker: Worker, onMessage: (message: WorkerMessage, from: WorkerHandle) => void) {
    this.id = worker.id;
    this.pid = worker.process.pid ?? 0;
    this.#worker = worker;
    worker.on('message', (message: WorkerMessage) => onMessage(message, this));
    // What cannot be sent any more is of no interest: the end of the process is told by 'exit'.
    worker.on('error', () => {});
    this.exited = new Promise((resolve) => {
      worker.once('exit', (code, signal) => resolve({ code, signal }));
    });
  }

  /** Nothing is sent to a worker that has gone. */
  send(message: PrimaryMessage): void {
    if (this.#worker.isConnected()) this.#worker.send(message, () => {});
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}

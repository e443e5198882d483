import { createServer, type Socket } from 'node:net';
import { listen } from '../http/server/listen.js';
import type { WorkerHandle } from './worker-handle.js';

/**
 * Accepts connections and hands them to the workers in turn, each to a worker that has taken the
 * one before. The kernel would give most of them to one worker, and node:cluster loses the one that
 * is being handed over when its worker is killed.
 */
export class ConnectionDistributor {
  // Reads nothing, so that a connection which a worker has not taken can go to another.
  readonly #server = createServer({ pauseOnConnect: true });
  readonly #maxWaiting: number;
  readonly #workers = new Set<WorkerHandle>();
  /** The workers that have taken all that was handed to them. */
  readonly #free = new Set<WorkerHandle>();
  readonly #handed = new Map<WorkerHandle, Socket>();
  readonly #waiting = new Set<Socket>();

  /** @param maxWaiting the maximum number of connections for which no worker is free */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
    this.#server.on('connection', (connection) => this.#accept(connection));
  }

  /** @throws the error of `server.listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL. @returns the URL */
  listen(scheme: string, host: string, port: number): Promise<string> {
    return listen(this.#server, scheme, host, port);
  }

  add(worker: WorkerHandle): void {
    this.#workers.add(worker);
    this.#offer(worker);
  }

  /** The worker has the connection that was handed to it. */
  onTaken(worker: WorkerHandle): void {
    // Only this process's descriptor closes.
    this.#handed.get(worker)?.destroy();
    this.#handed.delete(worker);
    this.#offer(worker);
  }

  /** Hands no more connections to a worker. */
  retire(worker: WorkerHandle): void {
    this.#workers.delete(worker);
    this.#free.delete(worker);
  }

  /** A connection that the worker has not taken goes to another. */
  onExit(worker: WorkerHandle): void {
    this.retire(worker);
    const connection = this.#handed.get(worker);
    this.#handed.delete(worker);
    if (connection !== undefined) this.#accept(connection);
    if (this.#workers.size === 0) this.#destroyWaiting();
  }

  close(): void {
    this.#server.close();
    this.#destroyWaiting();
  }

  #accept(connection: Socket): void {
    if (this.#workers.size === 0 || this.#waiting.size >= this.#maxWaiting) {
      connection.destroy();
      return;
    }
    this.#waiting.add(connection);
    const [worker] = this.#free;
    if (worker !== undefined) this.#offer(worker);
  }

  #offer(worker: WorkerHandle): void {
    if (!this.#workers.has(worker)) return;
    const [connection] = this.#waiting;
    if (connection === undefined) {
      this.#free.add(worker);
      return;
    }
    this.#free.delete(worker);
    this.#waiting.delete(connection);
    this.#handed.set(worker, connection);
    worker.hand(connection);
  }

  #destroyWaiting(): void {
    for (const connection of this.#waiting) connection.destroy();
    this.#waiting.clear();
  }
}

import type { Socket } from 'node:net';
import { createUnavailable } from '../errors.js';
import type { HostAnswers } from '../processes.js';
import type { HostPhase, PrimaryMessage, WorkerMessage } from './messages.js';
import { PendingAnswers } from './pending-answers.js';
import { MAX_UNSENT } from './worker-handle.js';

/** The maximum number of queries of one worker that wait for the primary. */
const MAX_QUERIES = 256;
type MessageOf<Type extends PrimaryMessage['type']> = Extract<PrimaryMessage, { type: Type }>;

export class PrimaryChannel {
  /** The phase as last published by the primary. */
  phase: HostPhase = 'starting';
  onConnection: ((connection: Socket) => void) | null = null;
  /** Called when this worker cannot respond to a request; must not throw. */
  onFailure: ((error: unknown, subject: string) => void) | null = null;
  readonly #listeners = new Map<string, (message: PrimaryMessage) => void>();
  readonly #queries = new PendingAnswers<HostAnswers<unknown, unknown>>();
  readonly #responders = new Map<string, (input: unknown) => unknown>();
  #unsent = 0;

  constructor() {
    process.on('message', (message: PrimaryMessage, handle?: Socket) => {
      if (message.type === 'connection') this.#take(handle);
      else this.#receive(message);
    });
    this.on('heartbeat', () => this.send({ type: 'heartbeat' }));
    this.on('phase', ({ phase }) => {
      this.phase = phase;
    });
    // Never rejects.
    this.on('request', ({ id, subject, input }) => void this.#respond(id, subject, input));
    this.on('result', ({ id, result }) => this.#queries.settle(id, result));
  }

  /**
   * Ignores send errors, because a worker exits soon after its primary. It also exits when the
   * primary does not read, because the primary would miss messages.
   */
  send(message: WorkerMessage): void {
    if (!process.connected) return;
    this.#unsent += 1;
    if (this.#unsent > MAX_UNSENT) process.exit(1);
    process.send?.(message, undefined, undefined, this.#onSent);
  }

  readonly #onSent = (): void => {
    this.#unsent -= 1;
  };

  /** Resolves when the message has been written. */
  sendLast(message: WorkerMessage): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
      else resolve();
    });
  }

  /** Sets the only listener of a type. */
  on<Type extends PrimaryMessage['type']>(
    type: Type,
    listener: (message: MessageOf<Type>) => void,
  ): void {
    // Called only with messages of this type.
    this.#listeners.set(type, listener as (message: PrimaryMessage) => void);
  }

  /** Resolves with the next message of a type that has no listener. */
  once<Type extends PrimaryMessage['type']>(type: Type): Promise<MessageOf<Type>> {
    return new Promise((resolve) => this.on(type, resolve));
  }

  /**
   * Sends a query to all workers, including this one.
   * @throws HostError 503 when too many queries wait, or the primary does not respond.
   */
  query(subject: string, input: unknown): Promise<HostAnswers<unknown, unknown>> {
    if (this.#queries.size >= MAX_QUERIES) {
      return Promise.reject(createUnavailable('too many requests ask all workers'));
    }
    return this.#queries.ask(
      (id) => this.send({ type: 'query', id, subject, input }),
      () => createUnavailable('the primary process does not respond'),
    );
  }

  /** Sets the response of this worker to requests on a subject. */
  respond(subject: string, read: (input: unknown) => unknown): void {
    this.#responders.set(subject, read);
  }

  #receive(message: PrimaryMessage): void {
    this.#listeners.get(message.type)?.(message);
  }

  /** @param connection absent when it has closed on the way */
  #take(connection: Socket | undefined): void {
    this.send({ type: 'taken' });
    if (connection !== undefined) this.onConnection?.(connection);
  }

  /** A worker that cannot respond keeps serving; the primary responds without it. */
  async #respond(id: number, subject: string, input: unknown): Promise<void> {
    const read = this.#responders.get(subject);
    if (read === undefined) return;
    try {
      this.send({ type: 'response', id, response: await read(input) });
    } catch (error) {
      this.onFailure?.(error, subject);
    }
  }
}

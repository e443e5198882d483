import type { HostPhase, PrimaryMessage, Subject, WorkerMessage, WorkerQuery } from './messages.js';

type MessageOf<Type extends PrimaryMessage['type']> = Extract<PrimaryMessage, { type: Type }>;

/** A worker's line to its primary. */
export class PrimaryChannel {
  /** Where the whole host is in its life, as the primary has last said. */
  phase: HostPhase = 'starting';
  readonly #listeners = new Map<string, (message: PrimaryMessage) => void>();
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  readonly #answers = new Map<Subject, (input: unknown) => unknown>();
  #lastId = 0;

  constructor() {
    process.on('message', (message: PrimaryMessage) => this.#take(message));
    this.on('phase', ({ phase }) => {
      this.phase = phase;
    });
    this.on('tell', ({ id, subject, input }) => void this.#tell(id, subject, input));
    this.on('answer', ({ id, answer }) => {
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
    });
  }

  /** When the primary has gone this process ends too: what is not sent then is not missed. */
  send(message: WorkerMessage): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  }

  /** Resolves when the message is out. */
  sendLast(message: WorkerMessage): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
      else resolve();
    });
  }

  /** One listener a type. */
  on<Type extends PrimaryMessage['type']>(
    type: Type,
    listener: (message: MessageOf<Type>) => void,
  ): void {
    // Called with messages of its type alone.
    this.#listeners.set(type, listener as (message: PrimaryMessage) => void);
  }

  /** The next message of a type that has no listener. */
  once<Type extends PrimaryMessage['type']>(type: Type): Promise<MessageOf<Type>> {
    return new Promise((resolve) => this.on(type, resolve));
  }

  /** Asks all workers, this one among them. */
  request<S extends Subject>(
    subject: S,
    input: WorkerQuery[S]['input'],
  ): Promise<WorkerQuery[S]['answer']> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve as (answer: unknown) => void);
      this.send({ type: 'ask', id, subject, input });
    });
  }

  /** What this worker tells when all are asked. */
  respond<S extends Subject>(
    subject: S,
    read: (
      input: WorkerQuery[S]['input'],
    ) => WorkerQuery[S]['told'] | Promise<WorkerQuery[S]['told']>,
  ): void {
    this.#answers.set(subject, read as (input: unknown) => unknown);
  }

  #take(message: PrimaryMessage): void {
    this.#listeners.get(message.type)?.(message);
  }

  async #tell(id: number, subject: Subject, input: unknown): Promise<void> {
    const read = this.#answers.get(subject);
    if (read !== undefined) this.send({ type: 'told', id, told: await read(input) });
  }
}

/** Answers to messages, matched by the ids of the messages. */
export class PendingAnswers<Answer> {
  readonly #timeoutMs: number;
  readonly #createError: () => Error;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  /** @param createError creates the error of a message without an answer in time */
  constructor(timeoutMs: number, createError: () => Error) {
    this.#timeoutMs = timeoutMs;
    this.#createError = createError;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Sends a message and waits for its answer.
   * @param send called once with the id of the message
   */
  ask(send: (id: number) => void): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(this.#createError());
      }, this.#timeoutMs);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      send(id);
    });
  }

  /** @returns false if no message waits for the answer */
  settle(id: number, answer: Answer): boolean {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(answer);
    return resolve !== undefined;
  }
}

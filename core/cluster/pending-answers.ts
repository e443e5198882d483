/**
 * The primary answers within a second, or keeps a message waiting only while others are handled.
 * Milliseconds.
 */
const TIMEOUT_MS = 10_000;

/** Answers to messages, matched by the ids of the messages. */
export class PendingAnswers<Answer> {
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #size = 0;
  #lastId = 0;

  get size(): number {
    return this.#size;
  }

  /**
   * Sends a message and waits for its answer.
   * @param send called once with the id of the message
   * @param createError creates the error of a message without an answer in time
   * @param onLate called with an answer that arrives afterwards
   */
  ask(
    send: (id: number) => void,
    createError: () => Error,
    onLate: ((answer: Answer) => void) | null = null,
  ): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#size += 1;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#size -= 1;
        if (onLate === null) this.#waiting.delete(id);
        else this.#waiting.set(id, onLate);
        reject(createError());
      }, TIMEOUT_MS);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        this.#size -= 1;
        resolve(answer);
      });
      send(id);
    });
  }

  settle(id: number, answer: Answer): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(answer);
  }
}

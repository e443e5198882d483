/** So that the first of them does not wait long on a host with thousands of callers. */
const DEFAULT_MOST = 32;

/**
 * Does the same thing for all that came up in one turn of the event loop, at the end of that turn: the code
 * for it is then in the processor's caches for all but the first. On a host that is not busy a turn
 * brings one, which waits for nothing.
 */
export class TurnQueue<Item> {
  readonly #run: (item: Item) => void;
  readonly #most: number;
  readonly #runAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const item of waiting) this.#run(item);
  };
  #waiting: Item[] = [];

  /**
   * @param run must not throw: those behind would be lost
   * @param most as soon as so many wait, all are done at once
   */
  constructor(run: (item: Item) => void, most = DEFAULT_MOST) {
    this.#run = run;
    this.#most = most;
  }

  add(item: Item): void {
    const count = this.#waiting.push(item);
    if (count === 1) setImmediate(this.#runAll);
    else if (count === this.#most) this.#runAll();
  }
}

/**
 * So that the first of them does not wait long on a host with thousands of callers. Of 256 at once, 32 together
 * take 7 to 30 % more CPU time, and 512 no less.
 */
const DEFAULT_BATCH_SIZE = 128;

/** When those that wait are due, from the first of them on. */
type Schedule = (run: () => void) => void;

/**
 * Does the same thing for all that came up together, one after the other: the code for it is then in the
 * processor's caches for all but the first. On a host that is not busy one comes by itself, and waits for nothing.
 */
export class BatchQueue<Item> {
  readonly #run: (item: Item) => void;
  readonly #schedule: Schedule;
  readonly #most: number;
  readonly #runAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const item of waiting) this.#run(item);
  };
  #waiting: Item[] = [];

  /**
   * @param run must not throw: those behind would be lost
   * @param schedule `setImmediate`: those of a turn of the event loop, at its end. `process.nextTick`: those of
   * all promises that are settled by now
   * @param most as soon as so many wait, all are done at once
   */
  constructor(
    run: (item: Item) => void,
    schedule: Schedule = setImmediate,
    most: number = DEFAULT_BATCH_SIZE,
  ) {
    this.#run = run;
    this.#schedule = schedule;
    this.#most = most;
  }

  add(item: Item): void {
    const count = this.#waiting.push(item);
    if (count === 1) this.#schedule(this.#runAll);
    else if (count === this.#most) this.#runAll();
  }
}

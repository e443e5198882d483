/** With 256 connections, batches of 32 take 7 to 30 % more CPU time, and batches of 512 no less. */
const MAX_BATCH = 128;

/**
 * Runs the same work for all items of one turn of the event loop, at its end. Its code is then in the
 * processor's caches for all but the first item.
 */
export class BatchQueue<Item> {
  readonly #run: (item: Item) => void;
  #items: Item[] = [];

  /** @param run must not throw, or the remaining items would be lost */
  constructor(run: (item: Item) => void) {
    this.#run = run;
  }

  add(item: Item): void {
    const count = this.#items.push(item);
    if (count === 1) setImmediate(this.#runAll);
    else if (count === MAX_BATCH) this.#runAll();
  }

  readonly #runAll = (): void => {
    const items = this.#items;
    this.#items = [];
    for (const item of items) this.#run(item);
  };
}

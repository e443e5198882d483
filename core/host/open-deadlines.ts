import type { Deadline } from '../provider/deadline.js';

/**
 * The deadlines of calls under way. Not a Set: that makes a new table for every so many calls, and what the old
 * ones still name (deadlines, their timers, the answers of providers) outlives dozens of collections.
 */
export class OpenDeadlines {
  readonly #all: Deadline[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(deadline: Deadline): void {
    deadline.place = this.#all.push(deadline) - 1;
  }

  /** One that was added, once. */
  delete(deadline: Deadline): void {
    const last = this.#all.pop();
    if (last === undefined || last === deadline) return;
    this.#all[deadline.place] = last;
    last.place = deadline.place;
  }

  cut(): void {
    for (const deadline of [...this.#all]) deadline.cut();
  }
}

import type { Run } from './run.js';

/** Storing a name costs as much as visiting this number of names. */
const COST_OF_NAME = 4;

/** The parts of one value that keywords have applied a schema to, for `unevaluatedProperties` and `…Items`. */
export class Evaluated {
  readonly #run: Run;
  #hasAllProperties = false;
  #hasAllItems = false;
  /** The number of evaluated items from the start. */
  #items = 0;
  readonly #properties = new Set<string>();
  readonly #scattered = new Set<number>();

  constructor(run: Run) {
    this.#run = run;
  }

  hasProperty(name: string): boolean {
    return this.#hasAllProperties || this.#properties.has(name);
  }

  hasItem(index: number): boolean {
    return this.#hasAllItems || index < this.#items || this.#scattered.has(index);
  }

  addProperty(name: string): void {
    this.#run.look(COST_OF_NAME);
    this.#properties.add(name);
  }

  addAllProperties(): void {
    this.#hasAllProperties = true;
  }

  addItems(count: number): void {
    this.#items = Math.max(this.#items, count);
  }

  addItem(index: number): void {
    this.#run.look(COST_OF_NAME);
    this.#scattered.add(index);
  }

  addAllItems(): void {
    this.#hasAllItems = true;
  }

  merge(other: Evaluated): void {
    this.#hasAllProperties ||= other.#hasAllProperties;
    this.#hasAllItems ||= other.#hasAllItems;
    this.#items = Math.max(this.#items, other.#items);
    this.#run.look((other.#properties.size + other.#scattered.size) * COST_OF_NAME);
    for (const name of other.#properties) this.#properties.add(name);
    for (const index of other.#scattered) this.#scattered.add(index);
  }
}

import type { Run } from './run.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** The dependents of members of an object, by name. */
export class Dependents<T> {
  readonly #entries: readonly (readonly [name: string, dependent: T])[];
  readonly #positions: ReadonlyMap<string, number>;

  constructor(entries: readonly (readonly [name: string, dependent: T])[]) {
    this.#entries = entries;
    this.#positions = new Map(entries.map(([name], position) => [name, position]));
  }

  /**
   * Finds the dependents of the members that the object has, in the order of the schema. The
   * shorter one of both lists is searched: the schema may name thousands, and a body may have
   * thousands of objects.
   */
  find(value: JsonObject, run: Run): readonly T[] {
    const names = run.namesOf(value);
    run.look(Math.min(names.length, this.#entries.length) + 1);
    if (this.#entries.length <= names.length) {
      return this.#entries.flatMap(([name, dependent]) =>
        Object.hasOwn(value, name) ? [dependent] : [],
      );
    }
    const positions = names.flatMap((name) => this.#positions.get(name) ?? []);
    positions.sort((a, b) => a - b);
    return positions.flatMap((position) => {
      const entry = this.#entries[position];
      return entry === undefined ? [] : [entry[1]];
    });
  }
}

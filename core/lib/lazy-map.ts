const NONE = new Map<never, never>();

/** A map that allocates with its first entry: an empty `Map` takes 190 bytes, and modules have many. */
export class LazyMap<Key, Value> implements Iterable<[Key, Value]> {
  #entries: Map<Key, Value> | null = null;

  get size(): number {
    return this.#entries?.size ?? 0;
  }

  get(key: Key): Value | undefined {
    return this.#entries?.get(key);
  }

  set(key: Key, value: Value): void {
    this.#entries ??= new Map();
    this.#entries.set(key, value);
  }

  delete(key: Key): void {
    this.#entries?.delete(key);
  }

  keys(): Iterable<Key> {
    return (this.#entries ?? NONE).keys();
  }

  values(): Iterable<Value> {
    return (this.#entries ?? NONE).values();
  }

  [Symbol.iterator](): Iterator<[Key, Value]> {
    return (this.#entries ?? NONE)[Symbol.iterator]();
  }
}

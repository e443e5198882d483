/** The module and path of an entry. */
export interface EntryPlace {
  /** The configured name. */
  readonly module: string;
  /** The decoded path within the module, without the query: `/items/a b`. */
  readonly path: string;
}

export interface Purge {
  readonly module: string;
  /** A decoded path, with every query and for every caller; `null` for the whole module. */
  readonly path: string | null;
  /** Whether the purge includes everything below the path, which ends with `/`. */
  readonly isPrefix: boolean;
}

interface PathEntries<Fill> {
  readonly keys: Set<string>;
  readonly fills: Set<Fill>;
}

/** Finds entries by module and path, so that a write does not search all entries. */
export class EntryIndex<Fill> {
  readonly #byModule = new Map<string, Map<string, PathEntries<Fill>>>();

  addKey(place: EntryPlace, key: string): void {
    this.#open(place).keys.add(key);
  }

  removeKey(place: EntryPlace, key: string): void {
    this.#find(place)?.keys.delete(key);
    this.#close(place);
  }

  addFill(place: EntryPlace, fill: Fill): void {
    this.#open(place).fills.add(fill);
  }

  removeFill(place: EntryPlace, fill: Fill): void {
    this.#find(place)?.fills.delete(fill);
    this.#close(place);
  }

  /** Removes entries from the index, and returns them. */
  take({ module, path, isPrefix }: Purge): { keys: string[]; fills: Fill[] } {
    const ofModule = this.#byModule.get(module);
    const keys: string[] = [];
    const fills: Fill[] = [];
    if (ofModule === undefined) return { keys, fills };
    const paths =
      path === null || isPrefix
        ? [...ofModule.keys()].filter((key) => path === null || key.startsWith(path))
        : [path];
    for (const purgedPath of paths) {
      const entries = ofModule.get(purgedPath);
      if (entries === undefined) continue;
      keys.push(...entries.keys);
      fills.push(...entries.fills);
      ofModule.delete(purgedPath);
    }
    if (ofModule.size === 0) this.#byModule.delete(module);
    return { keys, fills };
  }

  #find({ module, path }: EntryPlace): PathEntries<Fill> | undefined {
    return this.#byModule.get(module)?.get(path);
  }

  #open({ module, path }: EntryPlace): PathEntries<Fill> {
    let ofModule = this.#byModule.get(module);
    if (ofModule === undefined) {
      ofModule = new Map();
      this.#byModule.set(module, ofModule);
    }
    let entries = ofModule.get(path);
    if (entries === undefined) {
      entries = { keys: new Set(), fills: new Set() };
      ofModule.set(path, entries);
    }
    return entries;
  }

  #close(place: EntryPlace): void {
    const entries = this.#find(place);
    if (entries === undefined || entries.keys.size > 0 || entries.fills.size > 0) return;
    const ofModule = this.#byModule.get(place.module);
    ofModule?.delete(place.path);
    if (ofModule?.size === 0) this.#byModule.delete(place.module);
  }
}

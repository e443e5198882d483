/** The places where two answers to one request differ, whose items count as one. */
export class Noise {
  isNoise = false;
  #items: Noise | null = null;
  #members: Map<string, Noise> | null = null;

  /** `undefined` where nothing below differs. */
  find(key: string | number): Noise | undefined {
    return typeof key === 'number' ? (this.#items ?? undefined) : this.#members?.get(key);
  }

  /** The same, created where it is missing. */
  enter(key: string | number): Noise {
    const known = this.find(key);
    if (known !== undefined) return known;
    const created = new Noise();
    if (typeof key === 'number') this.#items = created;
    else {
      this.#members ??= new Map();
      this.#members.set(key, created);
    }
    return created;
  }
}

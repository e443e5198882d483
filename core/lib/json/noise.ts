/** The places at which two responses to one request differ. All items of a list are one place. */
export class Noise {
  isNoise = false;
  #items: Noise | null = null;
  #members: Map<string, Noise> | null = null;

  /** Returns `undefined` if nothing below differs. */
  find(key: string | number): Noise | undefined {
    return typeof key === 'number' ? (this.#items ?? undefined) : this.#members?.get(key);
  }

  /** Returns the same node, and creates a missing one. */
  enter(key: string | number): Noise {
    const child = this.find(key);
    if (child !== undefined) return child;
    const created = new Noise();
    if (typeof key === 'number') this.#items = created;
    else {
      this.#members ??= new Map();
      this.#members.set(key, created);
    }
    return created;
  }
}

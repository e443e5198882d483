/** Describing a part costs as much as visiting this number of parts. */
const COST_OF_PART = 16;

/**
 * Numbers for arrays and objects, equal for equal ones, so that comparing two of them takes one
 * comparison. Each part of a value is visited once, regardless of its depth.
 */
export class StructuralIds {
  readonly #onVisit: (parts: number) => void;
  readonly #byValue = new Map<object, number>();
  readonly #byText = new Map<string, number>();

  /** @param onVisit called with the number of parts of each described value */
  constructor(onVisit: (parts: number) => void) {
    this.#onVisit = onVisit;
  }

  /** Returns equal keys for equal JSON values. */
  keyOf(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    return `#${this.#idOf(value)}`;
  }

  #idOf(value: object): number {
    const cachedId = this.#byValue.get(value);
    if (cachedId !== undefined) return cachedId;
    const text = Array.isArray(value) ? this.#describeList(value) : this.#describeObject(value);
    const id = this.#byText.get(text) ?? this.#byText.size;
    this.#byText.set(text, id);
    this.#byValue.set(value, id);
    return id;
  }

  #describeList(items: readonly unknown[]): string {
    this.#onVisit(items.length * COST_OF_PART);
    return `[${items.map((item) => this.#describe(item)).join(',')}]`;
  }

  #describeObject(value: object): string {
    const entries = Object.entries(value);
    this.#onVisit(entries.length * COST_OF_PART);
    const members = entries
      .map(([key, member]) => `${JSON.stringify(key)}:${this.#describe(member)}`)
      .sort();
    return `{${members.join(',')}}`;
  }

  #describe(value: unknown): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return `#${this.#idOf(value)}`;
  }
}

/**
 * Numbers for arrays and objects, the same for equal ones: whether two are equal is then one comparison. Each
 * part of a value is visited once, however deep it is nested.
 */
export class StructuralIds {
  readonly #byValue = new Map<object, number>();
  readonly #byText = new Map<string, number>();

  /** Equal for equal JSON values. */
  keyOf(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    return `#${this.#idOf(value)}`;
  }

  #idOf(value: object): number {
    const known = this.#byValue.get(value);
    if (known !== undefined) return known;
    const text = Array.isArray(value) ? this.#describeList(value) : this.#describeObject(value);
    const id = this.#byText.get(text) ?? this.#byText.size;
    this.#byText.set(text, id);
    this.#byValue.set(value, id);
    return id;
  }

  #describeList(items: readonly unknown[]): string {
    return `[${items.map((item) => this.#describe(item)).join(',')}]`;
  }

  #describeObject(value: object): string {
    const members = Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}:${this.#describe(member)}`)
      .sort();
    return `{${members.join(',')}}`;
  }

  #describe(value: unknown): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return `#${this.#idOf(value)}`;
  }
}

/** The longest capability has 128 characters. */
const MAX_MODULE_LENGTH = 63;
const MAX_TAG_LENGTH = 58;

/** Creates `<module>.<tag>.read` and `<module>.<tag>.write`, with a unique name for each tag. */
export class CapabilityNames {
  readonly #module: string;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(module: string) {
    this.#module = module.length <= MAX_MODULE_LENGTH ? module : module.replace(/^.*\//, '');
  }

  create(tag: string, isRead: boolean): string {
    return `${this.#module}.${this.#nameTag(tag)}.${isRead ? 'read' : 'write'}`;
  }

  #nameTag(tag: string): string {
    const cachedName = this.#names.get(tag);
    if (cachedName !== undefined) return cachedName;
    const base = toWord(tag);
    let name = base;
    for (let count = 2; this.#taken.has(name); count += 1) name = `${base}_${count}`;
    this.#taken.add(name);
    this.#names.set(tag, name);
    return name;
  }
}

/** `Payment methods - store level` becomes `payment-methods-store-level`. */
function toWord(tag: string): string {
  const word = tag
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return word.slice(0, MAX_TAG_LENGTH) || 'other';
}

import { UniqueNames } from '../../openapi/operation-names.js';

/** The longest capability has 128 characters. */
const MAX_MODULE_LENGTH = 63;
const MAX_TAG_LENGTH = 58;

/** Creates `<module>.<tag>.read` and `<module>.<tag>.write`, with a unique name for each tag. */
export class CapabilityNames {
  readonly #module: string;
  readonly #names = new UniqueNames();
  readonly #byTag = new Map<string, string>();

  constructor(module: string) {
    this.#module = module.length <= MAX_MODULE_LENGTH ? module : module.replace(/^.*\//, '');
  }

  create(tag: string, isRead: boolean): string {
    return `${this.#module}.${this.#nameTag(tag)}.${isRead ? 'read' : 'write'}`;
  }

  #nameTag(tag: string): string {
    const name = this.#byTag.get(tag) ?? this.#names.reserve(toWord(tag));
    this.#byTag.set(tag, name);
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

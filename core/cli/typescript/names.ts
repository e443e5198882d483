const PART_OF_IDENTIFIER = /[\p{ID_Continue}$]/u;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Converts `acme/crm` to `acmeCrm`, with a capital after each invalid character. */
export function toIdentifier(text: string): string {
  let identifier = '';
  let isUpper = false;
  for (const character of text) {
    if (PART_OF_IDENTIFIER.test(character)) {
      identifier += isUpper ? character.toUpperCase() : character;
      isUpper = false;
    } else {
      isUpper = identifier !== '';
    }
  }
  return IDENTIFIER.test(identifier) ? identifier : `_${identifier}`;
}

/** An identifier that starts with an upper-case letter, for types. */
export function toTypeName(text: string): string {
  const [first = '', ...rest] = toIdentifier(text);
  return first.toUpperCase() + rest.join('');
}

/** The name as the key of an object type or object. */
export function toKey(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

/** Formats the name of a method: an unquoted `new` would declare a constructor. */
export function toMethodName(name: string): string {
  return name === 'new' ? JSON.stringify(name) : toKey(name);
}

/** Gives equal names the suffixes `_2`, `_3` and so on. */
export class UniqueIdentifiers {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** @param suffixes the suffixes that are appended to the name */
  add(name: string, suffixes: readonly string[] = ['']): string {
    const listUses = (base: string) => suffixes.map((suffix) => `${base}${suffix}`);
    let unique = name;
    for (let count = 2; listUses(unique).some((use) => this.#taken.has(use)); count += 1) {
      unique = `${name}_${count}`;
    }
    for (const use of listUses(unique)) this.#taken.add(use);
    return unique;
  }
}

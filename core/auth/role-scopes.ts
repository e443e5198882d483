import type { Role } from './role-table.js';

/**
 * The scopes of an actor: its direct scopes, and those of its roles. The scopes of roles are
 * shared, so that ten thousand actors with a large role need no copies.
 */
export class RoleScopes implements ReadonlySet<string> {
  readonly #direct: ReadonlySet<string>;
  readonly #roles: readonly Role[];
  readonly #isAllowed: (scope: string) => boolean;

  /** @param allowed the only scopes that roles may add; `null` for any */
  constructor(
    direct: ReadonlySet<string>,
    roles: readonly Role[],
    allowed: ReadonlySet<string> | null,
  ) {
    this.#direct = direct;
    this.#roles = roles;
    this.#isAllowed = (scope) => allowed === null || allowed.has(scope);
  }

  has(scope: string): boolean {
    if (this.#direct.has(scope)) return true;
    return this.#isAllowed(scope) && this.#roles.some(({ scopes }) => scopes.has(scope));
  }

  /**
   * The role that adds the scope; `null` for a direct scope, and for one that the actor does not
   * have.
   */
  findRole(scope: string): Role | null {
    if (this.#direct.has(scope) || !this.#isAllowed(scope)) return null;
    return this.#roles.find(({ scopes }) => scopes.has(scope)) ?? null;
  }

  get size(): number {
    return [...this].length;
  }

  *values(): SetIterator<string> {
    const seen = new Set<string>();
    for (const scope of this.#listAll()) {
      if (seen.size < seen.add(scope).size) yield scope;
    }
    return undefined;
  }

  keys(): SetIterator<string> {
    return this.values();
  }

  *entries(): SetIterator<[string, string]> {
    for (const scope of this) yield [scope, scope];
    return undefined;
  }

  [Symbol.iterator](): SetIterator<string> {
    return this.values();
  }

  forEach(
    callback: (value: string, key: string, set: ReadonlySet<string>) => void,
    thisArg?: unknown,
  ): void {
    for (const scope of this) callback.call(thisArg, scope, scope, this);
  }

  *#listAll(): Iterable<string> {
    yield* this.#direct;
    for (const { scopes } of this.#roles) {
      for (const scope of scopes.keys()) if (this.#isAllowed(scope)) yield scope;
    }
  }
}

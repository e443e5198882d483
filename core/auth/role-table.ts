import { array, type Infer, object, optional, record } from 'superstruct';
import { matching } from '../contract/described.js';
import { createInvalidFile, type DocumentSource, type Violation } from '../document/diagnostic.js';
import { parseByStruct } from '../document/parse-file.js';
import { shortText } from '../document/structs.js';
import { suggestName } from '../document/suggest.js';
import { scope } from './actor-syntax.js';

const ROLE_NAME = /^[A-Za-z0-9._-]{1,128}$/;

/** The name of a role in the files that name roles. */
export const roleName = matching('a name of 1 to 128 letters, digits or ._-', ROLE_NAME);

const MAX_ROLES = 1000;
/** The maximum number of scopes of one role, including those of the roles that it names. */
const MAX_SCOPES = 5000;
const MAX_DESCRIPTION_LENGTH = 200;

const ROLES_FILE = object({
  roles: record(
    roleName,
    object({
      description: optional(shortText(MAX_DESCRIPTION_LENGTH)),
      scopes: optional(array(scope)),
      roles: optional(array(roleName)),
    }),
  ),
});

type WrittenRole = Infer<typeof ROLES_FILE>['roles'][string];

export class Role {
  readonly name: string;
  readonly description: string | null;
  /** The scopes of this role, without those of other roles. */
  readonly ownScopes: readonly string[];
  /** The names of the roles whose scopes this role includes. */
  readonly roles: readonly string[];
  readonly #table: RoleTable;
  #scopes: ReadonlyMap<string, string> | null = null;

  constructor(
    name: string,
    { description, scopes = [], roles = [] }: WrittenRole,
    table: RoleTable,
  ) {
    this.name = name;
    this.description = description ?? null;
    this.ownScopes = scopes;
    this.roles = roles;
    this.#table = table;
  }

  /** Each scope, with the name of the role that lists it. Collected when the role is first used. */
  get scopes(): ReadonlyMap<string, string> {
    this.#scopes ??= collectScopes(listReached(this, this.#table));
    return this.#scopes;
  }
}

export class RoleTable {
  readonly #byName: ReadonlyMap<string, Role>;
  readonly #owners = new Map<string, Role[]>();
  /** The roles that name a role, by its name. */
  readonly #naming = new Map<string, Role[]>();

  constructor(written: Readonly<Record<string, WrittenRole>> = {}) {
    this.#byName = new Map(
      Object.entries(written).map(([name, role]) => [name, new Role(name, role, this)]),
    );
    for (const role of this.list()) {
      for (const scope of new Set(role.ownScopes)) addTo(this.#owners, scope, role);
      for (const name of new Set(role.roles)) addTo(this.#naming, name, role);
    }
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): Role | undefined {
    return this.#byName.get(name);
  }

  list(): Role[] {
    return [...this.#byName.values()];
  }

  /**
   * The names of the roles that have the scope: first those that list it, then those that include
   * it.
   */
  listHolders(scope: string): string[] {
    const holders = new Set(this.#owners.get(scope));
    for (const { name } of holders)
      for (const role of this.#naming.get(name) ?? []) holders.add(role);
    return [...holders].map(({ name }) => name);
  }
}

function addTo(index: Map<string, Role[]>, key: string, role: Role): void {
  const roles = index.get(key);
  if (roles === undefined) index.set(key, [role]);
  else roles.push(role);
}

/**
 * Parses `{roles: {NAME: {description?, scopes?, roles?}}}`, JSON or YAML by the file name.
 * @throws InvalidFile with the position of each violation.
 */
export function parseRolesFile(file: string, content: string): RoleTable {
  return readRolesFile(file, content).table;
}

/** Parses like {@link parseRolesFile}, and returns the positions of the values as well. */
export function readRolesFile(
  file: string,
  content: string,
): { readonly table: RoleTable; readonly source: DocumentSource } {
  const { value, source } = parseByStruct(file, content, ROLES_FILE);
  const table = new RoleTable(value.roles);
  // Each check relies on the earlier ones: in a circle, every role would reach itself.
  for (const check of [checkCount, checkNames, checkCircles, checkScopeCounts]) {
    const violations = check(table);
    if (violations.length > 0) throw createInvalidFile(violations, source);
  }
  return { table, source };
}

function listNamed(role: Role, table: RoleTable): Role[] {
  return role.roles.flatMap((name) => table.get(name) ?? []);
}

/** Includes the role itself, as the first one. */
function listReached(role: Role, table: RoleTable): ReadonlySet<Role> {
  const reached = new Set([role]);
  for (const role of reached) for (const included of listNamed(role, table)) reached.add(included);
  return reached;
}

function collectScopes(roles: Iterable<Role>): ReadonlyMap<string, string> {
  const scopes = new Map<string, string>();
  for (const { name, ownScopes } of roles) {
    for (const scope of ownScopes) if (!scopes.has(scope)) scopes.set(scope, name);
  }
  return scopes;
}

function checkCount({ size }: RoleTable): Violation[] {
  if (size <= MAX_ROLES) return [];
  const message = `'roles' has ${size} roles: expected at most ${MAX_ROLES}`;
  return [{ rule: 'too-many-roles', message, hint: null, path: ['roles'], at: 'key' }];
}

function checkNames(table: RoleTable): Violation[] {
  return listReferences(table).flatMap(({ role, name, path }) => {
    if (table.get(name) !== undefined) return [];
    const message = `role '${role.name}' names '${name}', which the file does not have`;
    const hint = suggestName(
      name,
      table.list().map((role) => role.name),
    );
    return [{ rule: 'unknown-role', message, hint, path, at: 'value' }];
  });
}

/** Reports each reference that closes a circle. */
function checkCircles(table: RoleTable): Violation[] {
  const states = new Map<Role, 'open' | 'done'>();
  const violations: Violation[] = [];
  const visit = (role: Role) => {
    states.set(role, 'open');
    for (const [index, name] of role.roles.entries()) {
      const included = table.get(name);
      if (included === undefined) continue;
      const state = states.get(included);
      if (state === undefined) visit(included);
      if (state !== 'open') continue;
      const message = `role '${role.name}' names '${name}', which has '${role.name}' itself: expected no circle`;
      const path = ['roles', role.name, 'roles', index];
      violations.push({ rule: 'role-circle', message, hint: null, path, at: 'value' });
    }
    states.set(role, 'done');
  };
  for (const role of table.list()) if (!states.has(role)) visit(role);
  return violations;
}

function checkScopeCounts(table: RoleTable): Violation[] {
  return table.list().flatMap((role) => {
    const reached = listReached(role, table);
    const listed = [...reached].reduce((sum, { ownScopes }) => sum + ownScopes.length, 0);
    // Skips most roles: they are below the limit even if all listed scopes were different.
    if (listed <= MAX_SCOPES) return [];
    const { size } = collectScopes(reached);
    if (size <= MAX_SCOPES) return [];
    const message = `role '${role.name}' has ${size} different scopes with all that it names: expected at most ${MAX_SCOPES}`;
    const hint = 'split the role';
    return [
      { rule: 'too-many-scopes', message, hint, path: ['roles', role.name], at: 'key' as const },
    ];
  });
}

function listReferences(table: RoleTable) {
  return table.list().flatMap((role) =>
    role.roles.map((name, index) => {
      return { role, name, path: ['roles', role.name, 'roles', index], at: 'value' as const };
    }),
  );
}

import type { Actor, Log } from '../contract/index.js';
import { assertValidFile } from '../document/parse-file.js';
import { openReloadedFile } from '../watch/reloaded-file.js';
import { RoleScopes } from './role-scopes.js';
import { parseRolesFile, type Role, RoleTable } from './role-table.js';

/** An actor as its authenticator created it, before the scopes of its roles are added. */
export interface AuthenticatedActor extends Actor {
  /** The only scopes that its roles may add; absent if roles may add any scope. */
  readonly allowedScopes?: readonly string[];
}

/** The time between two log lines about unknown names of one authenticator. Milliseconds. */
const LOG_INTERVAL_MS = 60_000;
const MAX_NAMES = 10;
const MAX_LOGGED_LENGTH = 128;

interface RolesSource {
  readonly current: RoleTable;
  close(): Promise<void>;
}

/** Adds the scopes of roles to actors. All authenticators share it. */
export class Roles {
  readonly #source: RolesSource;
  readonly #log: Log;
  /**
   * The result by the actor of the authenticator: most authenticators create one for each token.
   */
  readonly #resolved = new WeakMap<
    AuthenticatedActor,
    { readonly table: RoleTable; readonly actor: Actor }
  >();
  readonly #loggedAt = new Map<string, number>();

  constructor(source: RolesSource, log: Log) {
    this.#source = source;
    this.#log = log;
  }

  /** The roles of a host without a roles file. */
  static none(log: Log): Roles {
    return new Roles({ current: new RoleTable(), close: async () => {} }, log);
  }

  /**
   * Reads the roles file, and follows its changes; the last good version stays in use.
   * @throws ConfigError when the file is invalid or missing at startup.
   */
  static async open(file: string, log: Log): Promise<Roles> {
    try {
      const options = { log, name: 'roles file', parse: parseRolesFile, describe: describeTable };
      return new Roles(await openReloadedFile(file, options), log);
    } catch (error) {
      throw assertValidFile(error);
    }
  }

  /** The table of the current version of the file. */
  get table(): RoleTable {
    return this.#source.current;
  }

  /** Adds the scopes of its roles to an actor. A role that the file does not have adds nothing. */
  resolve(authenticated: AuthenticatedActor, authenticator: string): Actor {
    if (authenticated.roles === undefined || authenticated.roles.length === 0) return authenticated;
    const { table } = this;
    const cached = this.#resolved.get(authenticated);
    if (cached?.table === table) return cached.actor;
    const actor = this.#create(authenticated, new Set(authenticated.roles), authenticator);
    this.#resolved.set(authenticated, { table, actor });
    return actor;
  }

  /** The first 10 roles that have the scope, separated by spaces; `null` for none. */
  describeHolders(scope: string): string | null {
    const holders = this.table.listHolders(scope).slice(0, MAX_NAMES);
    return holders.length === 0 ? null : holders.join(' ');
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  #create(
    authenticated: AuthenticatedActor,
    names: ReadonlySet<string>,
    authenticator: string,
  ): Actor {
    const { kind, id, expiresAt, allowedScopes } = authenticated;
    const roles = [...names].flatMap((name) => this.table.get(name) ?? []);
    if (roles.length < names.size) this.#reportUnknown(names, authenticator);
    const allowed = allowedScopes === undefined ? null : new Set(allowedScopes);
    return {
      kind,
      id,
      scopes:
        roles.length === 0
          ? authenticated.scopes
          : new RoleScopes(authenticated.scopes, roles, allowed),
      roles: roles.map(({ name }) => name),
      ...(expiresAt !== undefined && { expiresAt }),
    };
  }

  /** Limited, because names may come from tokens: clients could fill the log with them. */
  #reportUnknown(names: ReadonlySet<string>, authenticator: string): void {
    const now = performance.now();
    const loggedAt = this.#loggedAt.get(authenticator) ?? Number.NEGATIVE_INFINITY;
    if (now - loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt.set(authenticator, now);
    const unknown = [...names]
      .filter((name) => this.table.get(name) === undefined)
      .slice(0, MAX_NAMES);
    const roles = unknown.map((name) => name.slice(0, MAX_LOGGED_LENGTH));
    this.#log.warn({ authenticator, roles }, 'unknown roles ignored');
  }
}

/** `support`, or `support, through reader`: the role that adds a scope to the actor; `null` for none. */
export function describeRoleOf({ scopes }: Actor, scope: string): string | null {
  const role: Role | null = scopes instanceof RoleScopes ? scopes.findRole(scope) : null;
  if (role === null) return null;
  const owner = role.scopes.get(scope);
  return owner === role.name ? role.name : `${role.name}, through ${owner}`;
}

function describeTable({ size }: RoleTable) {
  return { roles: size };
}

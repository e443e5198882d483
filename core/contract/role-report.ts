/**
 * The response to `GET /roles`, with wire names. Its size depends on the roles file, not on shared
 * scopes.
 */
export interface RoleReport {
  /** The roles, in the order of the file. */
  readonly roles: readonly {
    readonly name: string;
    readonly description: string | null;
    /** The scopes of the role, without those of other roles. */
    readonly scopes: readonly string[];
    /** The roles whose scopes it includes. */
    readonly roles: readonly string[];
  }[];
  /** All scopes of roles, without duplicates. */
  readonly scopes: readonly ReportedScope[];
  /** The scopes that no module declares. */
  readonly not_declared: readonly string[];
}

/** A scope of a role, and the routes and entities that it opens. */
export interface ReportedScope {
  /** Its name. */
  readonly scope: string;
  /**
   * Whether a module or the host declares it; `null` if none does and the manifest of a module is
   * unknown.
   */
  readonly declared: boolean | null;
  /** The modules that declare it, and what it opens there: `GET /items`, `entity contacts`. */
  readonly modules: readonly { readonly module: string; readonly opens: readonly string[] }[];
}

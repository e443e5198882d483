/** The answer of `GET /roles`, with wire names. It grows with the roles file, not with what roles share. */
export interface RoleReport {
  /** The roles, in the order of the file. */
  readonly roles: readonly {
    readonly name: string;
    readonly description: string | null;
    /** The scopes of the role, without those of other roles. */
    readonly scopes: readonly string[];
    /** The roles whose scopes it has as well. */
    readonly roles: readonly string[];
  }[];
  /** Each scope of any role once. */
  readonly scopes: readonly ReportedScope[];
  /** The scopes that no module declares. */
  readonly not_declared: readonly string[];
}

/** A scope of a role, and what it opens. */
export interface ReportedScope {
  /** Its name. */
  readonly scope: string;
  /**
   * Whether a module declares it, or it is one of the host; `null` where none does and the manifest of a
   * module is not known.
   */
  readonly declared: boolean | null;
  /** The modules that declare it, and what it opens there: `GET /items`, `entity contacts`. */
  readonly modules: readonly { readonly module: string; readonly opens: readonly string[] }[];
}

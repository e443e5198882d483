/** Every {@link ActorKind}. */
export const ACTOR_KINDS = ['service', 'system', 'user'] as const;

/**
 * A `service` or a `user` needs scopes. `system` is the operator's own automation and needs none. The
 * descriptor of a module names the kinds that may call it; without `callers` a `user` also needs the scope
 * `console.admin`.
 */
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** The caller. Authenticators create it, and it never changes: the parts of a call share it. */
export interface Actor {
  /** Decides which scopes are required. `anonymous` calls a public route without credentials. */
  readonly kind: ActorKind | 'anonymous';
  /**
   * Text of 1 to 255 code points, without control characters and without space at its ends; shown in
   * logs, records and the audit. Headers have it percent-encoded.
   */
  readonly id: string;
  /** Compared exactly: no wildcard, no prefix, no case folding. Visible ASCII without a comma. */
  readonly scopes: ReadonlySet<string>;
  /**
   * The names of its roles. The host adds to `scopes` those that the roles file lists for them; a name that
   * the file does not have adds nothing. Absent without roles.
   */
  readonly roles?: readonly string[];
  /**
   * The expiry of the credentials. Milliseconds since 1970; absent if they do not expire, or the
   * authenticator does not know. A session that began with them must not last longer.
   */
  readonly expiresAt?: number;
}

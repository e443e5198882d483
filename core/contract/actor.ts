export const ACTOR_KINDS = ['service', 'system', 'user'] as const;

export type ActorKind = (typeof ACTOR_KINDS)[number];

/** Who calls. Built only by an authenticator. */
export interface Actor {
  readonly kind: ActorKind;
  /** Matches `^[A-Za-z0-9._@-]{1,128}$` (contract 3). */
  readonly id: string;
  /** Exact scopes: no wildcard, no prefix. Visible ASCII without a comma. */
  readonly scopes: ReadonlySet<string>;
}

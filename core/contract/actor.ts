/** Every {@link ActorKind}. */
export const ACTOR_KINDS = ['service', 'system', 'user'] as const;

/**
 * Who may call (contract 3): a `service` needs scopes, a `user` also the scope `console.admin` for routes,
 * `system` is the operator's own machinery and needs none.
 */
export type ActorKind = (typeof ACTOR_KINDS)[number];

/**
 * Who calls. Built only by an authenticator, and never changed: the host shares it among the parts of a
 * call.
 */
export interface Actor {
  /** Decides what scopes are asked for. */
  readonly kind: ActorKind;
  /** Matches `^[A-Za-z0-9._@-]{1,128}$` (contract 3); stands in logs, records and the audit. */
  readonly id: string;
  /** Exact scopes: no wildcard, no prefix, no case folding (contract 1.4). Visible ASCII without a comma. */
  readonly scopes: ReadonlySet<string>;
}

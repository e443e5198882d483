/** One row of the audit chain, as `GET /audit` and `modgate audit --json` show it. */
export interface AuditRow {
  /** The number of the row, from 1, without gaps. */
  readonly id: number;
  /** ISO 8601, UTC, by the clock of the host that wrote it. */
  readonly at: string;
  /** The actor. */
  readonly actor: { readonly kind: string; readonly id: string };
  /** The name under which the module is configured. */
  readonly module: string;
  /** The permission that the actor used. */
  readonly permission: string;
  /** The operation: `config_write`, `admin_action_invoke`. */
  readonly operation: string;
  /** `service/key` of a write, the name of an action. */
  readonly target: string;
  /** `ok` or `failed`. */
  readonly outcome: string;
  /** The id of the request. */
  readonly request_id: string;
  /** The id that all requests of one task share. */
  readonly correlation_id: string;
  /** `sha256:` or, of a sensitive value, `hmac-sha256:`, and hex; over the RFC 8785 form. */
  readonly value_digest: string | null;
  /** `hash` of the previous row; 64 zeros in the first. */
  readonly prev: string;
  /** SHA-256 in hex over the RFC 8785 form of all fields above. */
  readonly hash: string;
}

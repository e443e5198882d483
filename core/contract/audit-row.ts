/** One row of the audit chain, as `GET /audit` and `modgate audit --json` show it. */
export interface AuditRow {
  /** From 1, without gaps. */
  readonly id: number;
  /** ISO 8601, UTC, by the clock of the host that wrote it. */
  readonly at: string;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly module: string;
  readonly permission: string;
  readonly operation: string;
  readonly target: string;
  readonly outcome: string;
  readonly request_id: string;
  readonly correlation_id: string;
  /** `sha256:` or, of a sensitive value, `hmac-sha256:`, and hex; over the RFC 8785 form. */
  readonly value_digest: string | null;
  /** `hash` of the previous row; 64 zeros in the first. */
  readonly prev: string;
  /** SHA-256 in hex over the RFC 8785 form of all fields above. */
  readonly hash: string;
}

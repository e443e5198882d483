/** The tables of both databases. No booleans: libsql aborts the process for them. */
export interface Tables {
  readonly schema_version: SchemaVersionTable;
  readonly store_secret: StoreSecretTable;
  readonly config_module: ConfigModuleTable;
  readonly config_value: ConfigValueTable;
  readonly audit_head: AuditHeadTable;
  readonly audit_row: AuditRowTable;
  readonly call_record: CallTable;
}

export interface SchemaVersionTable {
  version: number;
  applied_at: string;
}

/** The store's own secrets. */
export interface StoreSecretTable {
  name: string;
  value: string;
  key_id: string | null;
}

export interface ConfigModuleTable {
  module: string;
  revision: number;
}

export interface ConfigValueTable {
  module: string;
  service: string;
  key: string;
  /** JSON text, encrypted when `key_id` is not null. */
  value: string;
  key_id: string | null;
  sensitive: 0 | 1;
  updated_at: string;
}

/** One row: the end of the chain. It serializes writers and reveals a truncated chain. */
export interface AuditHeadTable {
  singleton: 1;
  id: number;
  hash: string;
}

/** A completed forwarded request, without bodies. */
export interface CallTable {
  /** Sorts by time: see `callId`. */
  id: string;
  at: string;
  request_id: string;
  correlation_id: string;
  trace_id: string | null;
  module: string | null;
  method: string;
  route: string | null;
  status: number;
  failure: string | null;
  actor: string | null;
  duration_ms: number;
  provider_ms: number | null;
  attempts: number;
  endpoint: string | null;
}

export interface AuditRowTable {
  id: number;
  at: string;
  actor_kind: string;
  actor_id: string;
  module: string;
  permission: string;
  operation: string;
  target: string;
  outcome: string;
  request_id: string;
  correlation_id: string;
  value_digest: string | null;
  prev: string;
  hash: string;
}

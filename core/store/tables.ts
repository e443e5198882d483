import type { CallFields, EntryFields, Rejection, StreamFields } from '../contract/call-record.js';

/** The tables of both databases. No booleans: libsql aborts the process for them. */
export interface Tables {
  readonly schema_version: SchemaVersionTable;
  readonly store_secret: StoreSecretTable;
  readonly config_module: ConfigModuleTable;
  readonly config_value: ConfigValueTable;
  readonly audit_head: AuditHeadTable;
  readonly audit_row: AuditRowTable;
  readonly call_record: CallTable;
  readonly surface_record: SurfaceRecordTable;
  readonly surface_lock: SurfaceLockTable;
  readonly approval: ApprovalTable;
  readonly fleet_host: FleetHostTable;
  readonly release: ReleaseTable;
  readonly release_state: ReleaseStateTable;
  readonly release_host: ReleaseHostTable;
}

interface SchemaVersionTable {
  version: number;
  applied_at: string;
  /** The least version that a host must know; `null` or absent: this one. */
  least_reader?: number | null;
}

/** The store's own secrets. */
interface StoreSecretTable {
  name: string;
  value: string;
  key_id: string | null;
}

interface ConfigModuleTable {
  module: string;
  revision: number;
}

interface ConfigValueTable {
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
interface AuditHeadTable {
  singleton: 1;
  id: number;
  hash: string;
}

/** The columns of the members of a call; lists are JSON text. */
type CallColumns = {
  -readonly [Name in keyof CallFields]: CallFields[Name];
} & { -readonly [Name in keyof StreamFields]: StreamFields[Name] } & {
  -readonly [Name in keyof EntryFields]: EntryFields[Name];
} & {
  -readonly [Name in keyof Rejection]: (Name extends 'errors' ? string : Rejection[Name]) | null;
};

/** A completed request, without bodies. */
export interface CallTable extends CallColumns {
  /** Sorts by time: see `callId`. */
  id: string;
  /** JSON text. */
  scopes: string | null;
}

/** A value of a surface. */
export interface SurfaceRecordTable {
  surface: string;
  key: string;
  /** JSON text. */
  value: string;
  /** ISO 8601, UTC. */
  expires_at: string;
}

/** A host of a fleet. Times are the store's clock, in ISO 8601. */
interface FleetHostTable {
  fleet: string;
  id: string;
  version: string;
  address: string;
  digest: string;
  state: 'starting' | 'ready' | 'draining';
  workers: number;
  /** A list, as JSON text. */
  rejected: string;
  /** A list, as JSON text. */
  serves: string | null;
  started_at: string;
  heartbeat_at: string;
}

/** A release of a fleet; never changed but for its verdict. Times are the store's clock, in ISO 8601. */
export interface ReleaseTable {
  fleet: string;
  /** The digest. */
  id: string;
  /** Numbers releases in the order of their publication, from 1. */
  number: number;
  /** The release that it was made from. */
  base: string | null;
  author_kind: string;
  author_id: string;
  created_at: string;
  note: string;
  least_version: string;
  files: number;
  bytes: number;
  /** JSON text: base64 by path. */
  content: string;
  /** The result of its canary, as JSON text. */
  verdict: string | null;
}

/** One row for each fleet; writers lock it. */
interface ReleaseStateTable {
  fleet: string;
  active: string | null;
  /** JSON text. */
  canary: string | null;
}

/** The release of each host that follows releases. */
export interface ReleaseHostTable {
  fleet: string;
  host: string;
  release: string | null;
  problem: string | null;
  /** The figures of a canary, as JSON text. */
  figures: string | null;
}

/** One row for each surface; writers lock it. */
interface SurfaceLockTable {
  surface: string;
}

/** A pending or decided request for approval. Times are ISO 8601, UTC. */
export interface ApprovalTable {
  id: string;
  kind: string;
  status: string;
  module: string;
  operation: string;
  actor_kind: string;
  actor_id: string;
  binding: string;
  /** JSON text. */
  content: string;
  requested_at: string;
  expires_at: string;
  decided_at: string | null;
  decider_kind: string | null;
  decider_id: string | null;
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

import type { AuditRow } from '../contract/audit-row.js';
import type { ApprovalStore } from './approvals.js';
import type { AuditFilter, AuditVerification } from './audit-log.js';
import type { AuditDraft, WriteAudit } from './audit-row.js';
import type { CallBounds, CallFilter, StoredCall } from './call-log.js';
import type { ConfigWrite, GeneratedField, StoredConfig } from './config-values.js';
import type { ChangeListener, NoticeListener } from './database.js';
import type { FleetHostStore } from './fleet-hosts.js';
import type { ReleaseStore } from './releases/releases.js';
import type { StoreUnavailable } from './store-unavailable.js';
import type { SurfaceRecordStore } from './surface-records.js';

export type { AuditRow } from '../contract/audit-row.js';
export type { StoredApproval } from './approvals.js';
export type { AuditFilter, AuditVerification } from './audit-log.js';
export type { AuditDraft, AuditedValue, AuditOutcome, WriteAudit } from './audit-row.js';
export type { CallBounds, CallFilter, StoredCall } from './call-log.js';
export type {
  ConfigAddress,
  ConfigWrite,
  GeneratedField,
  StoredConfig,
  StoredValue,
} from './config-values.js';

export type { ChangeListener } from './database.js';
export type { ReleaseContent, StoredRelease } from './releases/releases.js';
export { StoreUnavailable } from './store-unavailable.js';

/**
 * Config values, the audit and, where configured, calls. While the store is unavailable every operation
 * throws StoreUnavailable, and the store is reopened in the background. Operations may run concurrently.
 */
export interface Store {
  /** The reason why the store is unavailable; `null` while it is available. */
  readonly unavailable: StoreUnavailable | null;

  /**
   * A module that was never written to has revision 0 and no values.
   * @param secrets the fields, as `service/key`, whose values must be encrypted where there is a key
   */
  readConfig(module: string, secrets?: ReadonlySet<string>): Promise<StoredConfig>;

  /**
   * Stores a value and its audit row (`ok`) in one transaction, durable when it resolves. When it throws
   * StoreUnavailable the write may or may not have been stored: the caller may repeat it.
   */
  writeConfig(write: ConfigWrite, audit: WriteAudit): Promise<{ readonly revision: number }>;

  /**
   * The value of a generated field: created once as lower-case hex of random bytes and shared by all hosts.
   * It is sensitive; creating it changes no revision, calls no listener and leaves no audit row.
   */
  ensureGenerated(field: GeneratedField): Promise<string>;

  /**
   * Writes durably without a change, for work that must not begin unless its audit row can be written: a store
   * that is locked or on a full disk can still be read.
   */
  assertWritable(): Promise<void>;

  /** Adds a row for an action or a failed write; `writeConfig` adds its own row. */
  appendAudit(draft: AuditDraft): Promise<AuditRow>;

  /** Reads rows by ascending id. */
  readAudit(filter?: AuditFilter): AsyncIterable<AuditRow>;

  /** Checks that the chain is complete and unchanged. */
  verifyAudit(): Promise<AuditVerification>;

  /** Adds calls in one transaction; existing ones are left unchanged. */
  appendCalls(calls: readonly StoredCall[]): Promise<void>;

  /** Newest first. */
  readCalls(filter: CallFilter): Promise<StoredCall[]>;

  /** Removes calls beyond the bounds, in several short transactions. */
  pruneCalls(bounds: CallBounds): Promise<void>;

  /** Every function throws StoreUnavailable while the store is unavailable. */
  readonly surfaceRecords: SurfaceRecordStore;

  /** Every function throws StoreUnavailable while the store is unavailable. */
  readonly fleetHosts: FleetHostStore;

  /** Every function throws StoreUnavailable while the store is unavailable. */
  readonly approvals: ApprovalStore;

  /** Every function throws StoreUnavailable while the store is unavailable. */
  readonly releases: ReleaseStore;

  /**
   * Called after each write, of this host or another, and with `null` when the store was unavailable and any
   * value may have changed. May be called without a change.
   * @returns removes the listener
   */
  onConfigChange(listener: ChangeListener): () => void;

  /**
   * Sends a notice to the other processes that share the store, on PostgreSQL; on SQLite nothing.
   * @param notice at most 7,900 bytes of UTF-8
   */
  sendNotice(notice: string): Promise<void>;

  /**
   * @param listener called with notices of other processes, and with `null` when the store was unavailable and some
   * may have been lost. It must not throw.
   */
  onNotice(listener: NoticeListener): void;

  /** Closes connections and timers; every later operation throws StoreUnavailable. */
  close(): Promise<void>;
}

import type { AuditFilter, AuditVerification } from './audit-log.js';
import type { AuditDraft, AuditRow } from './audit-row.js';
import type { CallBounds, CallFilter, StoredCall } from './call-log.js';
import type { ConfigWrite, GeneratedField, StoredConfig } from './config-values.js';
import type { ChangeListener } from './database.js';
import type { StoreUnavailable } from './store-unavailable.js';

export type { AuditFilter, AuditVerification } from './audit-log.js';
export type { AuditDraft, AuditedValue, AuditOutcome, AuditRow } from './audit-row.js';
export type { CallBounds, CallFilter, StoredCall } from './call-log.js';
export type {
  ConfigAddress,
  ConfigWrite,
  GeneratedField,
  StoredConfig,
  StoredValue,
} from './config-values.js';

export type { ChangeListener } from './database.js';
export { StoreUnavailable } from './store-unavailable.js';

/** What a write says of itself; module, target and value it has already. */
export type WriteAudit = Omit<AuditDraft, 'outcome' | 'value'>;

/**
 * Config values, the audit and, where ops ask for it, calls. Every operation throws StoreUnavailable while the store cannot answer; it
 * is opened anew in the background. Many may run at a time.
 */
export interface Store {
  /** Why the store does not answer now; `null` while it does. */
  readonly unavailable: StoreUnavailable | null;

  /** A module that was never written to has revision 0 and no values. */
  readConfig(module: string): Promise<StoredConfig>;

  /**
   * Stores a value and its audit row (`ok`) in one transaction, durable when it resolves. When it throws
   * StoreUnavailable the write may or may not have come through: the caller may repeat it.
   */
  writeConfig(write: ConfigWrite, audit: WriteAudit): Promise<{ readonly revision: number }>;

  /**
   * The value of a generated field: made once, as lower-case hex of so many random bytes, then the same
   * for every host. Is sensitive; changes no revision, tells no listener, leaves no audit row.
   */
  ensureGenerated(field: GeneratedField): Promise<string>;

  /** For what `writeConfig` does not cover: actions, and writes that failed. */
  appendAudit(draft: AuditDraft): Promise<AuditRow>;

  /** By ascending id. */
  readAudit(filter?: AuditFilter): AsyncIterable<AuditRow>;

  /** Whether the chain is whole, as far as it can tell: docs/operate/store.md. */
  verifyAudit(): Promise<AuditVerification>;

  /** Adds calls in one transaction; one that is there already is left as it is. */
  appendCalls(calls: readonly StoredCall[]): Promise<void>;

  /** Newest first. */
  readCalls(filter: CallFilter): Promise<StoredCall[]>;

  /** Removes what is beyond the bounds, in several short transactions. */
  pruneCalls(bounds: CallBounds): Promise<void>;

  /**
   * Called after each write, of this host or another, and with `null` when any value may have changed: the
   * store was away. May come more often than needed. Answers how to stop it.
   */
  onConfigChange(listener: ChangeListener): () => void;

  /** Ends connections and timers, and every later operation with StoreUnavailable. */
  close(): Promise<void>;
}

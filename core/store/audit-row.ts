import { createHash } from 'node:crypto';
import type { AuditRow } from '../contract/audit-row.js';
import { canonicalizeValue } from '../contract/canonical-value.js';
import type { Actor } from '../contract/index.js';
import {
  type Column,
  INTEGER,
  type Table,
  type Tables,
  TEXT,
  TEXT_OR_NULL,
  texts,
} from './tables.js';

export const FIRST_PREV = '0'.repeat(64);

export const AUDIT_TABLES = {
  /** One row: the end of the chain. It serializes writers and reveals a truncated chain. */
  audit_head: {
    columns: { singleton: { type: 'bigint' } as Column<1>, id: INTEGER, hash: TEXT },
    primaryKey: ['singleton'],
    rows: [{ singleton: 1, id: 0, hash: FIRST_PREV }],
  },
  audit_row: {
    columns: {
      id: INTEGER,
      ...texts('at', 'actor_kind', 'actor_id', 'module', 'permission', 'operation', 'target'),
      ...texts('outcome', 'request_id', 'correlation_id'),
      value_digest: TEXT_OR_NULL,
      ...texts('prev', 'hash'),
    },
    primaryKey: ['id'],
    indexes: { audit_row_module: { on: 'module, id' } },
  },
} satisfies Record<string, Table>;

/** Named, since a newer modgate may have added others. */
export const AUDIT_COLUMNS = Object.keys(
  AUDIT_TABLES.audit_row.columns,
) as (keyof Tables['audit_row'])[];

export type AuditOutcome = 'ok' | 'failed';

/** The store adds id, time and hashes. */
export interface AuditDraft {
  readonly actor: Pick<Actor, 'kind' | 'id'>;
  /** The name under which the module is configured. */
  readonly module: string;
  readonly permission: string;
  /** `config_write`, `admin_action_invoke`. */
  readonly operation: string;
  /** `service/key` of a write, the name of an action. */
  readonly target: string;
  readonly outcome: AuditOutcome;
  readonly requestId: string;
  readonly correlationId: string;
  /** The written value, or the input of an action: only its digest is stored. */
  readonly value: AuditedValue | null;
}

export type WriteAudit = Omit<AuditDraft, 'outcome' | 'value'>;

export interface AuditedValue {
  /** The value as JSON, as text or in UTF-8. */
  readonly json: string | Uint8Array;
  /** Its digest is keyed, so that the value cannot be found by trying all. */
  readonly sensitive: boolean;
}

type AuditLink = Pick<AuditRow, 'id' | 'at' | 'value_digest' | 'prev'>;

export function createAuditRow(draft: AuditDraft, link: AuditLink): AuditRow {
  const unhashed = {
    id: link.id,
    at: link.at,
    actor: { kind: draft.actor.kind, id: toStorableText(draft.actor.id) },
    module: toStorableText(draft.module),
    permission: toStorableText(draft.permission),
    operation: toStorableText(draft.operation),
    target: toStorableText(draft.target),
    outcome: draft.outcome,
    request_id: toStorableText(draft.requestId),
    correlation_id: toStorableText(draft.correlationId),
    value_digest: link.value_digest,
    prev: link.prev,
  };
  return { ...unhashed, hash: hashAuditRow(unhashed) };
}

export function hashAuditRow(row: Omit<AuditRow, 'hash'>): string {
  return createHash('sha256').update(canonicalizeValue(row)).digest('hex');
}

export function toAuditTable({ actor, ...row }: AuditRow): Tables['audit_row'] {
  return { ...row, actor_kind: actor.kind, actor_id: actor.id };
}

/** A row with its members in the order in which they are shown. */
export function fromAuditTable(stored: Tables['audit_row']): AuditRow {
  const { id, at, actor_kind, actor_id, ...row } = stored;
  return { id, at, actor: { kind: actor_kind, id: actor_id }, ...row };
}

/** The databases change a NUL or a lone surrogate, and the row would not match its hash. */
function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

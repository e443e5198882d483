import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Selectable } from 'kysely';
import type { AuditRow } from '../contract/audit-row.js';
import type { Actor } from '../contract/index.js';
import type { AuditRowTable } from './tables.js';

/** `prev` of the first row. */
export const FIRST_PREV = '0'.repeat(64);

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

/** The audit fields of a write. */
export type WriteAudit = Omit<AuditDraft, 'outcome' | 'value'>;

export interface AuditedValue {
  /** The value as parsed by JSON.parse. */
  readonly json: unknown;
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
  return createHash('sha256')
    .update(canonicalize(row) ?? '')
    .digest('hex');
}

export function toAuditTable({ actor, ...row }: AuditRow): Selectable<AuditRowTable> {
  return { ...row, actor_kind: actor.kind, actor_id: actor.id };
}

export function fromAuditTable(stored: Selectable<AuditRowTable>): AuditRow {
  const { id, at, actor_kind, actor_id, ...row } = stored;
  const { module, permission, operation, target, outcome } = row;
  const { request_id, correlation_id, value_digest, prev, hash } = row;
  const actor = { kind: actor_kind, id: actor_id };
  const fields = { actor, module, permission, operation, target, outcome };
  return { id, at, ...fields, request_id, correlation_id, value_digest, prev, hash };
}

/** The databases change a NUL or a lone surrogate, and the row would not match its hash. */
function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

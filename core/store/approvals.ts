import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Actor } from '../contract/index.js';
import { appendAuditRow } from './audit-log.js';
import type { AuditDraft } from './audit-row.js';
import type { OpenedDatabase, UseDatabase } from './database.js';
import { parseStored } from './parse-stored.js';
import { lockSurface } from './surface-records.js';
import { type Column, type Table, type Tables, TEXT, TEXT_OR_NULL } from './tables.js';

/** What a person decides; the reason of a rejection is for the caller. */
export type Decision =
  | { readonly decision: 'approve' }
  | { readonly decision: 'reject'; readonly reason: string | null };

export const APPROVAL_TABLES = {
  /** Pending and decided requests for a person's approval. Times are ISO 8601, UTC. */
  approval: {
    columns: {
      id: TEXT,
      /** `call`: the approval covers one call of an operation. */
      kind: TEXT,
      status: TEXT as Column<'pending' | 'approved' | 'rejected' | 'used'>,
      module: TEXT,
      /** Earlier approvals of the same module and operation are compared. */
      operation: TEXT,
      actor_kind: TEXT as Column<Actor['kind']>,
      actor_id: TEXT,
      /** The digest of everything that the approval covers, except the version of the module. */
      binding: TEXT,
      /** JSON text that the person sees. */
      content: TEXT,
      requested_at: TEXT,
      expires_at: TEXT,
      decided_at: TEXT_OR_NULL,
      decider_kind: TEXT_OR_NULL as Column<Actor['kind'] | null>,
      decider_id: TEXT_OR_NULL,
      /** Why it was rejected, with escapes for invisible characters. */
      reason: { ...TEXT_OR_NULL, since: 18 },
      /** The version of the module, which an approval covers too: its `config_digest`. */
      version: { ...TEXT_OR_NULL, since: 20 },
    },
    primaryKey: ['id'],
    indexes: {
      approval_binding: { on: 'binding' },
      approval_status: { on: 'status, module' },
    },
  },
} satisfies Record<string, Table>;

type ApprovalRow = Readonly<Tables['approval']>;

/** A request without what the person sees. */
export type RequestedApproval = Omit<ApprovalRow, 'content'>;

export interface StoredApproval extends RequestedApproval {
  readonly content: unknown;
}

type ApprovalDraft = Pick<
  ApprovalRow,
  'kind' | 'module' | 'operation' | 'actor_kind' | 'actor_id' | 'binding' | 'version' | 'content'
>;

/** The audit fields of a request and of a decision. */
export interface ApprovalAudit {
  readonly permission: string;
  readonly requestId: string;
  readonly correlationId: string;
}

type RequestResult =
  /** A person has approved the call; the approval is used now. */
  | { readonly outcome: 'approved'; readonly approval: RequestedApproval }
  | { readonly outcome: 'pending' | 'rejected'; readonly approval: RequestedApproval }
  /** The caller, or the module, has too many requests. */
  | { readonly outcome: 'too_many'; readonly of: 'caller' | 'module' };

type DecideResult =
  | { readonly outcome: 'decided'; readonly approval: StoredApproval }
  | { readonly outcome: 'unknown' | 'conflict' };

/** An approval expires this long after its request. */
const APPROVAL_MS = 600_000;
/** The maximum number of requests that are pending or were rejected. */
const MAX_OF_CALLER = 20;
/** The maximum number of pending requests. */
const MAX_OF_MODULE = 200;
const ID_BYTES = 15;
const LOCK = 'host:approvals';

/**
 * Stores requests for approval for all hosts of the store. Expired ones count as removed.
 * @param now the clock. Milliseconds since 1970
 */
export function createApprovalStore(use: UseDatabase, now: () => number = Date.now) {
  const readTime = (laterMs = 0) => new Date(now() + laterMs).toISOString();
  return {
    /**
     * Uses an approval of the same binding and version. Otherwise finds the pending request, or the
     * rejected one of any version, or adds a request with its audit row.
     */
    request: (draft: ApprovalDraft, audit: ApprovalAudit): Promise<RequestResult> =>
      use(async (database) => {
        const digest = await digestText(database, draft.binding);
        return database.transact(async (trx) => {
          const result = await requestIn(trx, draft, readTime(), readTime(APPROVAL_MS));
          if (result.outcome !== 'added') return result;
          const { approval } = result;
          const actor = { kind: draft.actor_kind, id: draft.actor_id };
          const operation = 'approval_request';
          await addAuditRow(trx, approval, { ...audit, actor, operation }, digest);
          return { outcome: 'pending', approval };
        });
      }),
    /** Decides once, and adds the audit row; that of a rejection has the digest of its reason. */
    decide: (
      id: string,
      decision: Decision,
      actor: Pick<Actor, 'kind' | 'id'>,
      audit: ApprovalAudit,
    ): Promise<DecideResult> =>
      use(async (database) => {
        const stored = await find(database.query, id, readTime());
        if (stored === null) return { outcome: 'unknown' };
        const audited = decision.decision === 'approve' ? stored.binding : decision.reason;
        const digest = await digestText(database, audited);
        return database.transact(async (trx) => {
          const approval = await decideIn(trx, id, decision, actor, readTime());
          if (approval === null) return { outcome: 'conflict' };
          const operation = `approval_${decision.decision}`;
          await addAuditRow(trx, approval, { ...audit, actor, operation }, digest);
          return { outcome: 'decided', approval: fromTable(approval) };
        });
      }),
    get: (id: string): Promise<StoredApproval | null> =>
      use(async ({ query }) => {
        const row = await find(query, id, readTime());
        return row && fromTable(row);
      }),
    /** Lists pending requests, the oldest first, then decided ones, the newest first. */
    list: (limit: number): Promise<readonly StoredApproval[]> =>
      use(async ({ query }) => (await listAll(query, readTime(), limit)).map(fromTable)),
    /** Returns the request of the same operation that was approved before. */
    findPrevious: (approval: RequestedApproval): Promise<StoredApproval | null> =>
      use(async ({ query }) => {
        const row = await findPrevious(query, approval);
        return row && fromTable(row);
      }),
  };
}

export type ApprovalStore = ReturnType<typeof createApprovalStore>;

/** @throws StoreUnavailable for a content that is not JSON. */
function fromTable({ content, ...row }: ApprovalRow): StoredApproval {
  return { ...row, content: parseStored(content, `the content of the request '${row.id}'`) };
}

async function find(query: Kysely<Tables>, id: string, time: string): Promise<ApprovalRow | null> {
  const row = await query
    .selectFrom('approval')
    .selectAll()
    .where('id', '=', id)
    .where('expires_at', '>', time)
    .executeTakeFirst();
  return row ?? null;
}

function digestText({ digest }: Pick<OpenedDatabase, 'digest'>, text: string | null) {
  return digest(text === null ? null : { json: JSON.stringify(text), sensitive: false });
}

async function findPrevious(
  query: Kysely<Tables>,
  { id, kind, module, operation, decided_at }: RequestedApproval,
): Promise<ApprovalRow | null> {
  const row = await query
    .selectFrom('approval')
    .selectAll()
    .where(({ and }) => and({ kind, module, operation }))
    .where('status', 'in', ['approved', 'used'])
    .where('id', '!=', id)
    .$if(decided_at !== null, (select) => select.where('decided_at', '<', decided_at))
    .orderBy('decided_at', 'desc')
    .executeTakeFirst();
  return row ?? null;
}

async function listAll(query: Kysely<Tables>, time: string, limit: number): Promise<ApprovalRow[]> {
  const select = (isPending: boolean, count: number) =>
    query
      .selectFrom('approval')
      .selectAll()
      .where('status', isPending ? '=' : '!=', 'pending')
      .where('expires_at', '>', time)
      .orderBy('requested_at', isPending ? 'asc' : 'desc')
      .orderBy('id')
      .limit(count)
      .execute();
  const pending = await select(true, limit);
  const decided = pending.length < limit ? await select(false, limit - pending.length) : [];
  return [...pending, ...decided];
}

async function requestIn(
  trx: Transaction<Tables>,
  draft: ApprovalDraft,
  requested_at: string,
  expires_at: string,
): Promise<RequestResult | { readonly outcome: 'added'; readonly approval: RequestedApproval }> {
  await lockSurface(trx, LOCK);
  await trx
    .deleteFrom('approval')
    .where('status', 'in', ['pending', 'rejected'])
    .where('expires_at', '<=', requested_at)
    .execute();
  const same = await trx
    .selectFrom('approval')
    .selectAll()
    .where('binding', '=', draft.binding)
    .where(({ or, and, eb }) =>
      or([
        and([eb('status', 'in', ['pending', 'approved']), eb('version', '=', draft.version)]),
        // A rejection applies to the call, even if the module has changed.
        eb('status', '=', 'rejected'),
      ]),
    )
    .where('expires_at', '>', requested_at)
    .orderBy('status')
    .executeTakeFirst();
  if (same?.status === 'approved') {
    await trx.updateTable('approval').set({ status: 'used' }).where('id', '=', same.id).execute();
    return { outcome: 'approved', approval: { ...same, status: 'used' } };
  }
  if (same?.status === 'pending' || same?.status === 'rejected') {
    return { outcome: same.status, approval: same };
  }
  const { actor_kind, actor_id, module } = draft;
  const ofCaller = await count(trx, { actor_kind, actor_id }, ['pending', 'rejected']);
  if (ofCaller >= MAX_OF_CALLER) {
    return { outcome: 'too_many', of: 'caller' };
  }
  if ((await count(trx, { module }, ['pending'])) >= MAX_OF_MODULE) {
    return { outcome: 'too_many', of: 'module' };
  }
  const id = `apr_${randomBytes(ID_BYTES).toString('base64url')}`;
  const approval = await trx
    .insertInto('approval')
    .values({ ...draft, id, status: 'pending', requested_at, expires_at })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { outcome: 'added', approval };
}

/** Counts requests that have not expired; expired ones are already removed. */
async function count(
  trx: Transaction<Tables>,
  of: Partial<Pick<ApprovalRow, 'module' | 'actor_kind' | 'actor_id'>>,
  statuses: ('pending' | 'rejected')[],
): Promise<number> {
  const { rows } = await trx
    .selectFrom('approval')
    .select((table) => table.fn.countAll().as('rows'))
    .where(({ and }) => and(of))
    .where('status', 'in', statuses)
    .executeTakeFirstOrThrow();
  return Number(rows);
}

/**
 * Returns `null` for a request that was decided before. Keeps the last approved one of each
 * operation for comparison, and the one before it, with which it was compared.
 */
async function decideIn(
  trx: Transaction<Tables>,
  id: string,
  decision: Decision,
  actor: Pick<Actor, 'kind' | 'id'>,
  at: string,
): Promise<ApprovalRow | null> {
  await lockSurface(trx, LOCK);
  const decided = await trx
    .updateTable('approval')
    .set({
      status: decision.decision === 'approve' ? 'approved' : 'rejected',
      reason: decision.decision === 'approve' ? null : decision.reason,
      decided_at: at,
      decider_kind: actor.kind,
      decider_id: actor.id,
    })
    .where(({ and }) => and({ id, status: 'pending' }))
    .where('expires_at', '>', at)
    .returningAll()
    .executeTakeFirst();
  if (decided === undefined) return null;
  const { kind, module, operation } = decided;
  if (decision.decision === 'approve') {
    const previous = await findPrevious(trx, decided);
    await trx
      .deleteFrom('approval')
      .where(({ and }) => and({ kind, module, operation }))
      .where('id', 'not in', [id, previous?.id ?? id])
      .where(({ or, and, eb }) =>
        or([
          eb('status', '=', 'used'),
          and([eb('status', '=', 'approved'), eb('expires_at', '<=', at)]),
        ]),
      )
      .execute();
  }
  return decided;
}

async function addAuditRow(
  trx: Transaction<Tables>,
  { module, id: target }: RequestedApproval,
  audit: ApprovalAudit & Pick<AuditDraft, 'actor' | 'operation'>,
  digest: string | null,
): Promise<void> {
  await appendAuditRow(trx, { ...audit, module, target, outcome: 'ok', value: null }, digest);
}

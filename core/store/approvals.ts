import { randomBytes } from 'node:crypto';
import type { Selectable, Transaction } from 'kysely';
import type { Actor } from '../contract/index.js';
import { appendAuditRow } from './audit-log.js';
import type { Database, UseDatabase } from './database.js';
import { lockSurface } from './surface-records.js';
import type { ApprovalTable, Tables } from './tables.js';

type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'used';
export type Decision = 'approve' | 'reject';

/** A request for a person's approval, with its decision. */
export interface StoredApproval {
  readonly id: string;
  /** `call`: the approval covers one call of an operation. */
  readonly kind: string;
  readonly status: ApprovalStatus;
  readonly module: string;
  /** Earlier approvals of the same module and operation are compared. */
  readonly operation: string;
  readonly actor: Pick<Actor, 'kind' | 'id'>;
  /** The digest of everything that the approval covers. */
  readonly binding: string;
  /** JSON text that the person sees. */
  readonly content: string;
  readonly requestedAt: string;
  readonly expiresAt: string;
  readonly decidedAt: string | null;
  readonly decidedBy: Pick<Actor, 'kind' | 'id'> | null;
}

type ApprovalDraft = Pick<
  StoredApproval,
  'kind' | 'module' | 'operation' | 'actor' | 'binding' | 'content'
>;

/** The audit fields of a request and of a decision. */
interface ApprovalAudit {
  readonly permission: string;
  readonly requestId: string;
  readonly correlationId: string;
}

type RequestResult =
  /** A person has approved the call; the approval is used now. */
  | { readonly outcome: 'approved'; readonly approval: StoredApproval }
  | { readonly outcome: 'pending'; readonly approval: StoredApproval }
  /** The caller, or the module, has too many pending requests. */
  | { readonly outcome: 'too_many'; readonly of: 'caller' | 'module' };

type DecideResult =
  | { readonly outcome: 'decided'; readonly approval: StoredApproval }
  | { readonly outcome: 'unknown' | 'conflict' };

/** Stores requests for approval for all hosts of the store. Expired ones count as removed. */
export interface ApprovalStore {
  /** Uses an approval of the same binding, or finds the request that waits, or adds one with its audit row. */
  request(draft: ApprovalDraft, audit: ApprovalAudit): Promise<RequestResult>;
  /** Decides once, and adds the audit row. */
  decide(
    id: string,
    decision: Decision,
    actor: Pick<Actor, 'kind' | 'id'>,
    audit: ApprovalAudit,
  ): Promise<DecideResult>;
  get(id: string): Promise<StoredApproval | null>;
  /** Lists pending requests, the oldest first, then decided ones, the newest first. */
  list(limit: number): Promise<readonly StoredApproval[]>;
  /** Returns the last approved request of the same operation. */
  findPrevious(approval: StoredApproval): Promise<StoredApproval | null>;
}

/** An approval expires this long after its request. */
const APPROVAL_MS = 600_000;
/** The maximum number of pending requests. */
const MAX_OF_CALLER = 20;
const MAX_OF_MODULE = 200;
const ID_BYTES = 15;
const LOCK = 'host:approvals';

/** @param now the clock. Milliseconds since 1970 */
export function createApprovalStore(use: UseDatabase, now: () => number = Date.now): ApprovalStore {
  const readTime = () => new Date(now()).toISOString();
  return {
    request: (draft, audit) =>
      use(async (database) => {
        const digest = await database.digest({ json: draft.binding, sensitive: false });
        return database.transact(async (trx) => {
          const time = { at: readTime(), until: new Date(now() + APPROVAL_MS).toISOString() };
          const result = await requestIn(trx, draft, time, database);
          if (result.outcome !== 'added') return result;
          const { approval } = result;
          await addAuditRow(trx, database, approval, draft.actor, {
            ...audit,
            operation: 'approval_request',
            digest,
          });
          return { outcome: 'pending', approval };
        });
      }),
    decide: (id, decision, actor, audit) =>
      use(async (database) => {
        const stored = await find(database.query, id, readTime());
        if (stored === null) return { outcome: 'unknown' };
        const digest = await database.digest({ json: stored.binding, sensitive: false });
        return database.transact(async (trx) => {
          const approval = await decideIn(
            trx,
            stored,
            { decision, actor, at: readTime() },
            database,
          );
          if (approval === null) return { outcome: 'conflict' };
          const operation = `approval_${decision}`;
          await addAuditRow(trx, database, approval, actor, { ...audit, operation, digest });
          return { outcome: 'decided', approval };
        });
      }),
    get: (id) => use(({ query }) => find(query, id, readTime())),
    list: (limit) => use(({ query }) => listAll(query, readTime(), limit)),
    findPrevious: (approval) => use(({ query }) => findPrevious(query, approval)),
  };
}

type Reader = Database['query'] | Transaction<Tables>;

async function find(query: Reader, id: string, time: string): Promise<StoredApproval | null> {
  const row = await query
    .selectFrom('approval')
    .selectAll()
    .where('id', '=', id)
    .where('expires_at', '>', time)
    .executeTakeFirst();
  return row === undefined ? null : fromTable(row);
}

async function listAll(query: Reader, time: string, limit: number): Promise<StoredApproval[]> {
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
  return [...pending, ...decided].map(fromTable);
}

async function findPrevious(
  query: Reader,
  { id, kind, module, operation }: StoredApproval,
): Promise<StoredApproval | null> {
  const row = await query
    .selectFrom('approval')
    .selectAll()
    .where('kind', '=', kind)
    .where('module', '=', module)
    .where('operation', '=', operation)
    .where('status', 'in', ['approved', 'used'])
    .where('id', '!=', id)
    .orderBy('decided_at', 'desc')
    .executeTakeFirst();
  return row === undefined ? null : fromTable(row);
}

interface Time {
  readonly at: string;
  readonly until: string;
}

async function requestIn(
  trx: Transaction<Tables>,
  draft: ApprovalDraft,
  { at, until }: Time,
  { locksRows }: Pick<Database, 'locksRows'>,
): Promise<RequestResult | { readonly outcome: 'added'; readonly approval: StoredApproval }> {
  await lockSurface(trx, LOCK, locksRows);
  await trx
    .deleteFrom('approval')
    .where('status', 'in', ['pending', 'rejected'])
    .where('expires_at', '<=', at)
    .execute();
  const same = await trx
    .selectFrom('approval')
    .selectAll()
    .where('binding', '=', draft.binding)
    .where('status', 'in', ['pending', 'approved'])
    .where('expires_at', '>', at)
    .orderBy('status')
    .executeTakeFirst();
  if (same?.status === 'approved') {
    await trx.updateTable('approval').set({ status: 'used' }).where('id', '=', same.id).execute();
    return { outcome: 'approved', approval: { ...fromTable(same), status: 'used' } };
  }
  if (same !== undefined) return { outcome: 'pending', approval: fromTable(same) };
  const { kind, id } = draft.actor;
  const ofCaller = await countPending(trx, { actor_kind: kind, actor_id: id });
  if (ofCaller >= MAX_OF_CALLER) return { outcome: 'too_many', of: 'caller' };
  const ofModule = await countPending(trx, { module: draft.module });
  if (ofModule >= MAX_OF_MODULE) return { outcome: 'too_many', of: 'module' };
  const approval: StoredApproval = {
    ...draft,
    id: `apr_${randomBytes(ID_BYTES).toString('base64url')}`,
    status: 'pending',
    requestedAt: at,
    expiresAt: until,
    decidedAt: null,
    decidedBy: null,
  };
  await trx.insertInto('approval').values(toTable(approval)).execute();
  return { outcome: 'added', approval };
}

async function countPending(
  trx: Transaction<Tables>,
  of: Partial<Pick<ApprovalTable, 'module' | 'actor_kind' | 'actor_id'>>,
): Promise<number> {
  const { count } = await trx
    .selectFrom('approval')
    .select((table) => table.fn.countAll().as('count'))
    .where('status', '=', 'pending')
    .where((expression) => expression.and(of))
    .executeTakeFirstOrThrow();
  return Number(count);
}

interface DecisionIn {
  readonly decision: Decision;
  readonly actor: Pick<Actor, 'kind' | 'id'>;
  readonly at: string;
}

/** Returns `null` for a request that was decided before. Keeps the last approved one of each operation, for comparison. */
async function decideIn(
  trx: Transaction<Tables>,
  { id, kind, module, operation }: StoredApproval,
  { decision, actor, at }: DecisionIn,
  { locksRows }: Pick<Database, 'locksRows'>,
): Promise<StoredApproval | null> {
  await lockSurface(trx, LOCK, locksRows);
  const approval = await find(trx, id, at);
  if (approval?.status !== 'pending') return null;
  const status = decision === 'approve' ? 'approved' : 'rejected';
  const decided = {
    status,
    decided_at: at,
    decider_kind: actor.kind,
    decider_id: actor.id,
  } as const;
  await trx.updateTable('approval').set(decided).where('id', '=', id).execute();
  if (decision === 'approve') {
    await trx
      .deleteFrom('approval')
      .where('kind', '=', kind)
      .where('module', '=', module)
      .where('operation', '=', operation)
      .where('id', '!=', id)
      .where(({ or, and, eb }) =>
        or([
          eb('status', '=', 'used'),
          and([eb('status', '=', 'approved'), eb('expires_at', '<=', at)]),
        ]),
      )
      .execute();
  }
  return { ...approval, status, decidedAt: at, decidedBy: actor };
}

async function addAuditRow(
  trx: Transaction<Tables>,
  database: Database,
  { module, id }: StoredApproval,
  actor: Pick<Actor, 'kind' | 'id'>,
  {
    digest,
    ...audit
  }: ApprovalAudit & { readonly operation: string; readonly digest: string | null },
): Promise<void> {
  const draft = { ...audit, actor, module, target: id, outcome: 'ok', value: null } as const;
  await appendAuditRow(trx, draft, digest, database);
}

function toTable(approval: StoredApproval): Selectable<ApprovalTable> {
  const { id, kind, status, module, operation, actor, binding, content } = approval;
  return {
    ...{ id, kind, status, module, operation, binding, content },
    actor_kind: actor.kind,
    actor_id: actor.id,
    requested_at: approval.requestedAt,
    expires_at: approval.expiresAt,
    decided_at: approval.decidedAt,
    decider_kind: approval.decidedBy?.kind ?? null,
    decider_id: approval.decidedBy?.id ?? null,
  };
}

function fromTable(row: Selectable<ApprovalTable>): StoredApproval {
  const { id, kind, status, module, operation, binding, content, decider_kind, decider_id } = row;
  return {
    ...{ id, kind, status: status as ApprovalStatus, module, operation, binding, content },
    actor: toActor(row.actor_kind, row.actor_id),
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: decider_kind === null ? null : toActor(decider_kind, decider_id ?? ''),
  };
}

function toActor(kind: string, id: string): Pick<Actor, 'kind' | 'id'> {
  return { kind: kind as Actor['kind'], id };
}

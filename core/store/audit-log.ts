import type { Kysely, Transaction } from 'kysely';
import type { AuditRow } from '../contract/audit-row.js';
import {
  AUDIT_COLUMNS,
  type AuditDraft,
  createAuditRow,
  FIRST_PREV,
  fromAuditTable,
  hashAuditRow,
  toAuditTable,
} from './audit-row.js';
import type { ReadableDatabase, UseDatabase } from './database.js';
import type { Tables } from './tables.js';

const PAGE_ROWS = 500;

export interface AuditFilter {
  readonly module?: string;
  /** The earliest `at` of rows. */
  readonly since?: Date;
  /** The id after which rows begin. Default 0. */
  readonly afterId?: number;
  /** Default: all rows. */
  readonly limit?: number;
}

export type AuditVerification =
  | { readonly rows: number; readonly brokenAt: null }
  | {
      /** Rows before the break. */
      readonly rows: number;
      /** Id of the first row that is missing, changed, or does not follow the previous one. */
      readonly brokenAt: number;
      readonly reason: string;
    };

export function createAuditReader(use: UseDatabase<ReadableDatabase>) {
  return {
    /** Reads rows by ascending id. */
    read: async function* (filter: AuditFilter = {}) {
      const rows = await use(async ({ query }) => readRows(query, filter));
      for (;;) {
        const next = await use(() => rows.next());
        if (next.done) return;
        yield next.value;
      }
    },
    /**
     * Reads the whole chain, also while hosts write. Detects changed, removed and inserted rows and a truncated
     * chain, but not a chain that was rewritten up to its head.
     */
    verify: () => use(({ query }) => verifyRows(query)),
  };
}

export type AuditReader = ReturnType<typeof createAuditReader>;

export function createAuditStore(use: UseDatabase) {
  return {
    ...createAuditReader(use),
    /** Adds a row for an action or a failed write; other writes add their own rows. */
    append: (draft: AuditDraft): Promise<AuditRow> =>
      use(async (database) => {
        const digest = await database.digest(draft.value);
        return database.transact((trx) => appendAuditRow(trx, draft, digest));
      }),
    /**
     * Writes durably without a change, for work that must not begin unless its audit row can be written: a store
     * that is locked or on a full disk can still be read.
     */
    assertWritable: (): Promise<void> => use(({ transact }) => transact(rewriteHead)),
  };
}

/** Nothing else can change the head until the end of the transaction. */
function lockHead(trx: Transaction<Tables>) {
  return trx
    .updateTable('audit_head')
    .set((head) => ({ id: head.ref('id') }))
    .returning(['id', 'hash'])
    .executeTakeFirstOrThrow();
}

/** Adds a row. The lock on the head serializes writers, so the chain has no forks. */
export async function appendAuditRow(
  trx: Transaction<Tables>,
  draft: AuditDraft,
  value_digest: string | null,
): Promise<AuditRow> {
  const head = await lockHead(trx);
  const link = { id: head.id + 1, at: new Date().toISOString(), value_digest, prev: head.hash };
  const row = createAuditRow(draft, link);
  await trx.insertInto('audit_row').values(toAuditTable(row)).execute();
  await trx.updateTable('audit_head').set({ id: row.id, hash: row.hash }).execute();
  return row;
}

/** SQLite writes nothing for a value that stays the same, so the head has another one in between. */
async function rewriteHead(trx: Transaction<Tables>): Promise<void> {
  const head = await lockHead(trx);
  for (const hash of ['', head.hash]) await trx.updateTable('audit_head').set({ hash }).execute();
}

/** Rows by ascending id, read in pages so that other queries can run in between. */
async function* readRows(
  query: Kysely<Tables>,
  { module, since, afterId = 0, limit = Number.POSITIVE_INFINITY }: AuditFilter,
): AsyncGenerator<AuditRow, void, undefined> {
  let remaining = limit;
  let last = afterId;
  while (remaining > 0) {
    const size = Math.min(PAGE_ROWS, remaining);
    const page = await query
      .selectFrom('audit_row')
      .select(AUDIT_COLUMNS)
      .where('id', '>', last)
      .$if(module !== undefined, (select) => select.where('module', '=', module ?? ''))
      .$if(since !== undefined, (select) => select.where('at', '>=', since?.toISOString() ?? ''))
      .orderBy('id')
      .limit(size)
      .execute();
    for (const stored of page) yield fromAuditTable(stored);
    if (page.length < size) return;
    remaining -= page.length;
    last = page.at(-1)?.id ?? last;
  }
}

async function verifyRows(query: Kysely<Tables>): Promise<AuditVerification> {
  // In this order: a row and the head are written in one transaction, so the head is not behind the rows.
  const newest = await readNewestId(query);
  const head = await readHead(query);
  let [rows, prev] = [0, FIRST_PREV];
  for await (const row of readRows(query, { limit: head.id })) {
    const reason = verifyRow(row, rows + 1, prev);
    if (reason !== null) return { rows, brokenAt: rows + 1, reason };
    [rows, prev] = [row.id, row.hash];
  }
  const brokenAt = rows + 1;
  if (rows < head.id) return { rows, brokenAt, reason: 'the row and all after it are missing' };
  if (newest > head.id) return { rows, brokenAt, reason: 'the row was not written by modgate' };
  if (prev === head.hash) return { rows, brokenAt: null };
  return { rows: rows - 1, brokenAt: rows, reason: 'the row is not the last one written' };
}

function verifyRow({ hash, ...row }: AuditRow, id: number, prev: string): string | null {
  if (row.id !== id) return 'the row is missing';
  if (row.prev !== prev) return 'the row does not follow the previous one';
  return hashAuditRow(row) === hash ? null : 'the row was changed';
}

async function readNewestId(query: Kysely<Tables>): Promise<number> {
  const newest = await query
    .selectFrom('audit_row')
    .select((table) => table.fn.max('id').as('id'))
    .executeTakeFirst();
  return newest?.id ?? 0;
}

async function readHead(query: Kysely<Tables>): Promise<{ id: number; hash: string }> {
  const head = await query.selectFrom('audit_head').select(['id', 'hash']).executeTakeFirst();
  return head ?? { id: 0, hash: FIRST_PREV };
}

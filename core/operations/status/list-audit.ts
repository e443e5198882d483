import { type AuditRow, auditPage } from '../../contract/audit-row.js';
import type { AuditFilter } from '../../store/audit-log.js';
import type { Store } from '../../store/store.js';
import { STORE } from '../injection-tokens.js';
import { defineListing } from '../listing.js';
import { integerParameter, limitParameter, moduleParameter, timeParameter } from '../query.js';
import { defineResource } from '../resource.js';
import { rethrowStoreError } from '../store-error.js';

/** Lists rows of the audit, oldest first, so that the chain can be verified forwards. */
export const AUDIT = defineResource({
  text: 'rows of the [audit](../operate/store.md), as `modgate audit --json` prints them, oldest first. `since` is a time, `after` the id of a row, `limit` 1 to 1000, default 100. `next_after` is the `after` of the next page, `null` on the last',
  query: {
    module: moduleParameter,
    since: timeParameter,
    after: { ...integerParameter('the id of a row', 0, Number.MAX_SAFE_INTEGER), fallback: 0 },
    limit: limitParameter,
  },
  listing: defineListing({
    struct: auditPage,
    rows: 'rows',
    title: 'Audit, oldest first',
    columns: {
      id: { title: 'Row', as: 'number' },
      at: { title: 'Time', as: 'time' },
      actor: { title: 'Actor', as: 'actor' },
      module: { title: 'Module' },
      operation: { title: 'Operation' },
      target: { title: 'Target', as: 'code' },
      permission: { title: 'Permission', only: 'command' },
      outcome: { title: 'Outcome', as: 'state' },
      request_id: { title: 'Request', as: 'code', only: 'page' },
    },
  }),
  needs: [STORE],
  answer: async ({ query }, store) => {
    const { module, since, after, limit } = query;
    const page = await readRows(store, {
      ...(module !== null && { module }),
      ...(since !== null && { since: new Date(since) }),
      afterId: after,
      // One more, if there is one.
      limit: limit + 1,
    });
    const rows = page.slice(0, limit);
    const next_after = page.length > rows.length ? (rows.at(-1)?.id ?? null) : null;
    return { rows, next_after };
  },
});

async function readRows(store: Store, filter: AuditFilter): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  try {
    for await (const row of store.audit.read(filter)) rows.push(row);
  } catch (error) {
    return rethrowStoreError(error);
  }
  return rows;
}

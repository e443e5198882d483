import { injectable } from '../../injection.js';
import type { AuditFilter, AuditRow, Store } from '../../store/store.js';
import { authorize } from '../authorization.js';
import { STORE } from '../injection-tokens.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';

export interface AuditQuery {
  readonly module: string | null;
  /** Milliseconds since 1970; the earliest time of rows. */
  readonly since: number | null;
  /** Only rows with a greater id. */
  readonly after: number;
  /** 1 to 1000. */
  readonly limit: number;
}

/**
 * Handles `GET /audit`: lists rows of the audit, oldest first, so that the chain can be verified
 * forwards.
 */
@injectable(STORE)
export class ListAudit implements Handler<AuditQuery> {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async execute(query: AuditQuery, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, { kind: 'scope', scope: 'modgate.audit.read' });
    const page = await this.#read(query);
    const rows = page.slice(0, query.limit);
    const next_after = page.length > rows.length ? (rows.at(-1)?.id ?? null) : null;
    return Reply.json(authorization, { rows, next_after });
  }

  /** Reads one row more than the limit, if there is one. */
  async #read({ module, since, after, limit }: AuditQuery): Promise<AuditRow[]> {
    const filter: AuditFilter = {
      ...(module !== null && { module }),
      ...(since !== null && { since: new Date(since) }),
      afterId: after,
      limit: limit + 1,
    };
    const rows: AuditRow[] = [];
    try {
      for await (const row of this.#store.readAudit(filter)) rows.push(row);
    } catch (error) {
      return rethrowStoreError(error);
    }
    return rows;
  }
}

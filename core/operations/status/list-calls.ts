import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
import { FLEET, type Fleet, NO_FLEET } from '../fleet/fleet.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import {
  CALL_RECORDS,
  type CallPage,
  type CallQuery,
  type CallRecords,
  toWireCall,
} from './call-record.js';

/** Handles `GET /calls`: lists recent calls, newest first. */
@injectable(CALL_RECORDS, FLEET)
export class ListCalls implements Handler<CallQuery> {
  readonly #records: CallRecords;
  readonly #fleet: Fleet;

  constructor(records: CallRecords, fleet: Fleet) {
    this.#records = records;
    this.#fleet = fleet;
  }

  async execute(query: CallQuery, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, { kind: 'scope', scope: 'modgate.calls.read' });
    const page = await readCalls(this.#records, query);
    if (page === null) throw createUnknownCursor();
    const calls = page.calls.map(toWireCall);
    const body = { calls, next_cursor: page.next, ...this.#describeHosts(page) };
    return Reply.json(authorization, body);
  }

  /** Describes the hosts of the calls, which callers behind a load balancer cannot know. */
  #describeHosts({ areOfAllHosts }: CallPage): { readonly hosts?: 'all' | 'one' } {
    if (this.#fleet === NO_FLEET) return {};
    return { hosts: areOfAllHosts ? 'all' : 'one' };
  }
}

/**
 * @returns `null` for an unknown cursor.
 * @throws HostError 503 when the store is not available.
 */
export async function readCalls(records: CallRecords, query: CallQuery): Promise<CallPage | null> {
  try {
    return await records.list(query);
  } catch (error) {
    return rethrowStoreError(error);
  }
}

function createUnknownCursor(): HostError {
  return new HostError('validation_failed', 'unknown cursor', {
    errors: [{ field: 'cursor', reason: 'not the next_cursor of an earlier page' }],
    nextActions: ['start again without a cursor'],
  });
}

import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
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

/** `GET /calls`: recent calls, newest first. */
@injectable(CALL_RECORDS)
export class ListCalls implements Handler<CallQuery> {
  readonly #records: CallRecords;

  constructor(records: CallRecords) {
    this.#records = records;
  }

  async execute(query: CallQuery, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, { kind: 'scope', scope: 'modgate.calls.read' });
    const page = await readCalls(this.#records, query);
    if (page === null) throw createUnknownCursor();
    const body = { calls: page.calls.map(toWireCall), next_cursor: page.next };
    return Reply.json(authorization, body);
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

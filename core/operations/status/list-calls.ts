import { HostError } from '../../errors.js';
import { inject, injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import {
  CALL_RECORDS,
  type CallPage,
  type CallQuery,
  type CallRecord,
  type CallRecords,
} from './call-record.js';

/** `GET /calls`: recent calls, newest first. */
@injectable()
export class ListCalls implements Handler<CallQuery> {
  readonly #records: CallRecords;

  constructor(@inject(CALL_RECORDS) records: CallRecords) {
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

/** The call on the wire, with its surface and its bodies only if it has them. */
export function toWireCall({ surface, captured, ...call }: CallRecord) {
  return {
    ...call,
    ...(surface !== null && { surface }),
    ...(captured !== null && {
      request_body: captured.request,
      response_body: captured.response,
    }),
  };
}

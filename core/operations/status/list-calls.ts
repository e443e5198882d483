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
    const body = { calls: page.calls.map(describeCall), next_cursor: page.next };
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

/** The call in wire names, with bodies only if they were captured. */
export function describeCall(call: CallRecord) {
  return {
    at: new Date(call.at).toISOString(),
    request_id: call.requestId,
    correlation_id: call.correlationId,
    trace_id: call.traceId,
    module: call.module,
    method: call.method,
    route: call.route,
    status: call.status,
    failure: call.failure,
    failure_detail: call.failureDetail,
    actor: call.actor,
    duration_ms: call.durationMs,
    provider_ms: call.providerMs,
    attempts: call.attempts,
    endpoint: call.endpoint,
    ...(call.surface !== null && { surface: call.surface }),
    ...(call.captured !== null && {
      request_body: call.captured.request,
      response_body: call.captured.response,
    }),
  };
}

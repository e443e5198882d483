import { HostError } from '../../errors.js';
import { inject, injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
import { Answer, type Handler } from '../handler.js';
import type { CallerRequest } from '../request.js';
import { assertStoreAvailable } from '../store-error.js';
import {
  CALL_RECORDS,
  type CallPage,
  type CallQuery,
  type CallRecord,
  type CallRecords,
} from './call-record.js';

/** `GET /calls` (contract 9): what was called lately, newest first. */
@injectable()
export class ListCalls implements Handler<CallQuery> {
  readonly #records: CallRecords;

  constructor(@inject(CALL_RECORDS) records: CallRecords) {
    this.#records = records;
  }

  async execute(query: CallQuery, request: CallerRequest): Promise<Answer> {
    const authorization = authorize(request.actor, { kind: 'scope', scope: 'modgate.calls.read' });
    const page = await this.#read(query);
    if (page === null) throw unknownCursor();
    const body = { calls: page.calls.map(describeCall), next_cursor: page.next };
    return Answer.ofText(authorization, JSON.stringify(body));
  }

  async #read(query: CallQuery): Promise<CallPage | null> {
    try {
      return await this.#records.list(query);
    } catch (error) {
      return assertStoreAvailable(error);
    }
  }
}

function unknownCursor(): HostError {
  return new HostError('validation_failed', 'the cursor is none that this host has made', {
    errors: [{ field: 'cursor', reason: 'not the next_cursor of an earlier page' }],
    nextActions: ['start again without a cursor'],
  });
}

/** The call on the wire; the bodies only where they were captured. */
function describeCall(call: CallRecord) {
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
    actor: call.actor,
    duration_ms: call.durationMs,
    provider_ms: call.providerMs,
    attempts: call.attempts,
    endpoint: call.endpoint,
    ...(call.captured !== null && {
      request_body: call.captured.request,
      response_body: call.captured.response,
    }),
  };
}

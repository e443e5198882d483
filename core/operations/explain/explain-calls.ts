import { HostError } from '../../errors.js';
import { inject, injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import {
  ANY_CALL,
  CALL_RECORDS,
  type CallRecord,
  type CallRecords,
  compareNewestFirst,
} from '../status/call-record.js';
import { readCalls, toWireCall } from '../status/list-calls.js';

/** A client may use one id for any number of requests. */
const MAX_CALLS = 100;

export interface ExplainCallsInput {
  readonly requestId: string;
}

/** `GET /explain?request_id=`: why calls with this request id got their answer. */
@injectable()
export class ExplainCalls implements Handler<ExplainCallsInput> {
  readonly #records: CallRecords;

  constructor(@inject(CALL_RECORDS) records: CallRecords) {
    this.#records = records;
  }

  async execute({ requestId }: ExplainCallsInput, request: CallerRequest): Promise<Reply> {
    authorize(request.actor, { kind: 'scope', scope: 'modgate.explain' });
    const authorization = authorize(request.actor, { kind: 'scope', scope: 'modgate.calls.read' });
    const calls = await this.#find(requestId);
    if (calls.length === 0) throw createUnknownRequest();
    return Reply.json(authorization, { calls: calls.map(toWireCall) });
  }

  /** Newest first. */
  async #find(requestId: string): Promise<readonly CallRecord[]> {
    const query = { ...ANY_CALL, requestId, limit: MAX_CALLS };
    const page = await readCalls(this.#records, query);
    return [...(page?.calls ?? [])].sort(compareNewestFirst);
  }
}

function createUnknownRequest(): HostError {
  return new HostError('not_found', 'no recorded call has this request id', {
    errors: [{ field: 'request_id', reason: 'not found' }],
    nextActions: ['send the x-request-id of an answer below /modules/'],
  });
}

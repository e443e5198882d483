import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { type Authorization, authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest, ParsedTarget } from '../request.js';
import {
  ANY_CALL,
  CALL_RECORDS,
  type CallRecords,
  compareNewestFirst,
  type RecordedCall,
  toWireCall,
} from '../status/call-record.js';
import { readCalls } from '../status/list-calls.js';

/** Limits the calls, because a client may use one id for any number of requests. */
const MAX_CALLS = 100;

export interface ExplainCallsInput {
  readonly requestId: string;
  /**
   * Parses the target of a request, to decide it again; `null` shows only the recorded decision.
   */
  readonly parseTarget: ((target: string) => ParsedTarget) | null;
}

/** Recorded calls that the caller may see. */
interface FoundCalls {
  readonly authorization: Authorization;
  /** Newest first. */
  readonly calls: readonly RecordedCall[];
}

/** Handles `GET /explain?request_id=`: explains the responses to calls with this request id. */
@injectable(CALL_RECORDS)
export class ExplainCalls implements Handler<ExplainCallsInput> {
  readonly #records: CallRecords;

  constructor(records: CallRecords) {
    this.#records = records;
  }

  async execute(input: ExplainCallsInput, request: CallerRequest): Promise<Reply> {
    const { authorization, calls } = await this.find(input, request);
    return Reply.json(authorization, { calls: calls.map(toWireCall) });
  }

  /** @throws HostError 403; 404 for an unknown id. */
  async find({ requestId }: ExplainCallsInput, request: CallerRequest): Promise<FoundCalls> {
    authorize(request.actor, { kind: 'scope', scope: 'modgate.explain' });
    const authorization = authorize(request.actor, { kind: 'scope', scope: 'modgate.calls.read' });
    const calls = await this.#find(requestId);
    if (calls.length === 0) throw createUnknownRequest();
    return { authorization, calls };
  }

  /** Newest first. */
  async #find(requestId: string): Promise<readonly RecordedCall[]> {
    const query = { ...ANY_CALL, request_id: requestId, limit: MAX_CALLS };
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

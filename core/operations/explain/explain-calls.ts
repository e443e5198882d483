import { HostError } from '../../errors.js';
import { type Authorization, authorize } from '../authorization.js';
import type { CallerRequest } from '../request.js';
import {
  ANY_CALL,
  type CallRecords,
  compareNewestFirst,
  type RecordedCall,
} from '../status/call-record.js';
import { readCalls } from '../status/list-calls.js';

/** Limits the calls, because a client may use one id for any number of requests. */
const MAX_CALLS = 100;

/** Recorded calls that the caller may see. */
interface FoundCalls {
  readonly authorization: Authorization;
  /** Newest first. */
  readonly calls: readonly RecordedCall[];
}

/**
 * Finds the calls with a request id. Records are readable with their own scope only.
 * @throws HostError 403; 404 for an unknown id.
 */
export async function findCalls(
  records: CallRecords,
  requestId: string,
  { actor }: CallerRequest,
): Promise<FoundCalls> {
  const authorization = authorize(actor, { kind: 'scope', scope: 'modgate.calls.read' });
  const page = await readCalls(records, { ...ANY_CALL, request_id: requestId, limit: MAX_CALLS });
  const calls = [...(page?.calls ?? [])].sort(compareNewestFirst);
  if (calls.length === 0) throw createUnknownRequest();
  return { authorization, calls };
}

function createUnknownRequest(): HostError {
  return new HostError('not_found', 'no recorded call has this request id', {
    errors: [{ field: 'request_id', reason: 'not found' }],
    nextActions: ['send the x-request-id of an answer below /modules/'],
  });
}

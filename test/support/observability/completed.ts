import { type CallMemberName, listCallMembers } from '../../../core/contract/call-record.js';
import { createNulls } from '../../../core/lib/fixed-shape.js';
import {
  type CompletedRequest,
  type KeptCall,
  keepCall,
} from '../../../core/observability/completed-request.js';
import { createRequestFacts } from '../../../core/operations/request.js';
import { callId, type StoredCall } from '../../../core/store/call-log.js';

const RUN = '0123abcd';

/** A forwarded request that has ended, by its id. */
export function createEnded(id: number, status = 200): CompletedRequest {
  const facts = createRequestFacts();
  facts.kind = 'forwarded';
  return {
    requestId: String(id),
    correlationId: '',
    actor: 'service:crm',
    actorKind: 'service',
    client: '192.0.2.1',
    scopes: null,
    rejection: null,
    facts,
    method: 'GET',
    status,
    bytesOut: 0,
    durationMs: 1,
    completedAt: Date.now(),
    call: null,
  };
}

/** The record of a forwarded request, by its id. */
export function createKept(id: number): KeptCall {
  return keepCall(createEnded(id));
}

/** @param at when it ended, in milliseconds since 1970 */
export function createStored(
  number: number,
  at: number,
  overrides: Partial<StoredCall> = {},
): StoredCall {
  return {
    ...createNulls(listCallMembers<CallMemberName>(() => true)),
    scopes: null,
    id: callId(at, RUN, number),
    at: new Date(at).toISOString(),
    request_id: `r${number}`,
    correlation_id: 'c',
    module: 'shop',
    method: 'GET',
    route: '/items/{id}',
    status: 200,
    actor: 'service:crm',
    client: '192.0.2.1',
    duration_ms: 1.234,
    attempts: 1,
    ...overrides,
  };
}

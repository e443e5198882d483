import type { CompletedRequest } from '../../../core/observability/completed-request.js';
import { createRequestFacts } from '../../../core/operations/request.js';

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
  };
}

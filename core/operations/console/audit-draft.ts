import type { WriteAudit } from '../../store/audit-row.js';
import type { AdminCall } from './bridge-operation.js';

/** An audit row without its outcome and value. */
export function createAuditDraft(
  { module, permission, request }: Omit<AdminCall, 'authorization' | 'hopByHop'>,
  operation: string,
  target: string,
): WriteAudit {
  const { actor, requestId, correlationId } = request;
  return {
    actor: { kind: actor.kind, id: actor.id },
    module: module.name,
    permission,
    operation,
    target,
    requestId,
    correlationId,
  };
}

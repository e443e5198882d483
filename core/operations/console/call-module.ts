import type { AdminActionOperation, AdminListOperation } from '../../contract/index.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { callProvider } from '../forward/call-provider.js';
import type { AdminCall } from './bridge-operation.js';

/**
 * Calls the module's provider for an admin operation. `provider_errors: passthrough` applies as for routes, so
 * that a console can show why the provider rejected an input.
 */
export function callModule<T>(
  { authorization, module, request, hopByHop, admit }: AdminCall,
  operation: AdminListOperation | AdminActionOperation,
  parseResponse: (outcome: CheckedOutcome) => T,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const [name, target] =
    operation.kind === 'admin_list'
      ? ['admin_data_list', operation.entity]
      : ['admin_action_invoke', operation.action];
  return callProvider({
    authorization,
    module,
    operation,
    matched: null,
    request,
    hopByHop,
    timeoutMs: module.descriptor.limits.timeout_ms,
    isRepeatable: operation.kind === 'admin_list',
    headers,
    admit: admit ?? null,
    details: [
      { field: 'module', reason: module.name },
      { field: 'operation', reason: name },
      { field: 'target', reason: target },
    ],
    parseResponse,
  });
}

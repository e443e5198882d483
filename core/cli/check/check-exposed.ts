import { createDiagnostic, type Diagnostic } from '../../document/diagnostic.js';
import { findNearestName } from '../../document/suggest.js';
import { createRoutedModule } from '../../modules/live-module.js';
import { configDigestOf, type PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import { listOperationIds } from '../../operations/exposed/exposed-operations.js';

/** Warns of names in `mcp.only` that match no operation of the manifest, and so expose nothing. */
export function findUnknownOperations(prepared: PreparedDescriptor): Diagnostic[] {
  const { descriptor, manifest } = prepared;
  const { only } = descriptor.mcp;
  if (only === undefined || manifest === null) return [];
  const configDigest = configDigestOf(prepared.inputDigest, manifest.digest);
  const parts = { manifest: manifest.manifest, manifestDigest: manifest.digest, configDigest };
  const operationIds = listOperationIds(createRoutedModule({ descriptor, ...parts }));
  return only.flatMap((name, index) => {
    if (operationIds.includes(name)) return [];
    const message = `mcp.only names '${name}', which is not an operation of the manifest`;
    const ofKind = operationIds.filter((id) => kindOf(id) === kindOf(name));
    const nearest = findNearestName(name, ofKind);
    const hint =
      nearest === null ? 'see GET /operations for the names' : `did you mean '${nearest}'?`;
    const violation = { rule: 'unknown-operation', message, hint, path: ['mcp', 'only', index] };
    return createDiagnostic({ ...violation, at: 'value' }, prepared, 'warning');
  });
}

/** `entity:` or `action:`; empty for a route. */
function kindOf(id: string): string {
  return /^(?:entity|action):/.exec(id)?.[0] ?? '';
}

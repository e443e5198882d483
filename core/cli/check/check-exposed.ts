import { escapeLine } from '../../contract/index.js';
import type { Violation } from '../../document/diagnostic.js';
import { findNearestName } from '../../document/suggest.js';
import { createRoutedModule, type RoutedModule } from '../../modules/live-module.js';
import { configDigestOf, type PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import { listExposed, listOperationIds } from '../../operations/exposed/exposed-operations.js';

type Warning = Omit<Violation, 'at'>;

/** So many renamed arguments of a module are named. */
const MAX_SHOWN = 10;
const MAX_NAME = 100;

/** Finds what is valid, but probably not intended, in what a descriptor exposes to agents. */
export function checkExposed(prepared: PreparedDescriptor): readonly Warning[] {
  const { descriptor, manifest, inputDigest } = prepared;
  if (manifest === null) return [];
  const { only, expose } = descriptor.mcp;
  if (only === undefined && expose === 'none') return [];
  const configDigest = configDigestOf(inputDigest, manifest.digest);
  const parts = { manifest: manifest.manifest, manifestDigest: manifest.digest, configDigest };
  const module = createRoutedModule({ descriptor, ...parts });
  return [...findUnknownOperations(module), ...findRenamedArguments(module)];
}

/** Names in `mcp.only` that match no operation of the manifest, and so expose nothing. */
function findUnknownOperations(module: RoutedModule): readonly Warning[] {
  const operationIds = listOperationIds(module);
  return (module.descriptor.mcp.only ?? []).flatMap((name, index) => {
    if (operationIds.includes(name)) return [];
    const message = `mcp.only names '${name}', which is not an operation of the manifest`;
    const ofKind = operationIds.filter((id) => kindOf(id) === kindOf(name));
    const nearest = findNearestName(name, ofKind);
    const hint =
      nearest === null ? 'see GET /operations for the names' : `did you mean '${nearest}'?`;
    return { rule: 'unknown-operation', message, hint, path: ['mcp', 'only', index] };
  });
}

/** `entity:` or `action:`; empty for a route. */
function kindOf(id: string): string {
  return /^(?:entity|action):/.exec(id)?.[0] ?? '';
}

/** Arguments that agents see under other names than the manifest declares. */
function findRenamedArguments(module: RoutedModule): readonly Warning[] {
  const renamed = new Set(
    [...listExposed(module).values()].flatMap(({ shown }) =>
      shown.arguments
        .filter(({ name, wireName }) => name !== wireName)
        .map(({ name, wireName }) => `'${escapeLine(wireName.slice(0, MAX_NAME))}' is '${name}'`),
    ),
  );
  if (renamed.size === 0) return [];
  const shown = [...renamed].slice(0, MAX_SHOWN);
  const more = renamed.size > MAX_SHOWN ? `, and ${renamed.size - MAX_SHOWN} more` : '';
  const message = `mcp: arguments of tools have other names than in requests: ${shown.join(', ')}${more}`;
  const hint =
    'model APIs take names of A-Z a-z 0-9 _ . - with at most 64 characters, each once in a tool';
  return [{ rule: 'renamed-argument', message, hint, path: ['mcp'] }];
}

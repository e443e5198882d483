import { escapeLine } from '../../contract/index.js';
import type { Violation } from '../../document/diagnostic.js';
import { findNearestName } from '../../document/suggest.js';
import { createRoutedModule, type RoutedModule } from '../../modules/live-module.js';
import { configDigestOf, type PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import { listExposed, listOperationIds } from '../../operations/exposed/exposed-operations.js';

type Warning = Omit<Violation, 'at'>;

/** The maximum number of renamed arguments that are listed for a module. */
const MAX_SHOWN = 10;
const MAX_NAME = 100;

/** Finds parts of a descriptor that are valid, but probably expose something else than intended. */
export function checkExposed(prepared: PreparedDescriptor): readonly Warning[] {
  const { descriptor, manifest, inputDigest } = prepared;
  if (manifest === null) return [];
  const { only, tools, expose } = descriptor.mcp;
  if ((only ?? tools) === undefined && expose === 'none') return [];
  const configDigest = configDigestOf(inputDigest, manifest.digest);
  const parts = { manifest: manifest.manifest, manifestDigest: manifest.digest, configDigest };
  const module = createRoutedModule({ descriptor, ...parts });
  return [...findUnknownOperations(module), ...findRenamedArguments(module), ...findTwins(module)];
}

/**
 * Names in `mcp.only` and `mcp.tools` that match no operation of the manifest, and so have no
 * effect.
 */
function findUnknownOperations(module: RoutedModule): readonly Warning[] {
  const operationIds = listOperationIds(module);
  const { only = [], tools = {} } = module.descriptor.mcp;
  const named = [
    ...only.map((name, index) => ({ name, path: ['mcp', 'only', index] })),
    ...Object.keys(tools).map((name) => ({ name, path: ['mcp', 'tools', name] })),
  ];
  return named.flatMap(({ name, path }) => {
    if (operationIds.includes(name)) return [];
    const place = path.slice(0, 2).join('.');
    const message = `${place} names '${name}', which is not an operation of the manifest`;
    const ofKind = operationIds.filter((id) => kindOf(id) === kindOf(name));
    const nearest = findNearestName(name, ofKind);
    const hint =
      nearest === null ? 'see GET /operations for the names' : `did you mean '${nearest}'?`;
    return { rule: 'unknown-operation', message, hint, path };
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

/**
 * Entities and actions beside routes that do the same: a model cannot choose between their tools. A
 * list in `mcp.only` is assumed to be intended.
 */
function findTwins(module: RoutedModule): readonly Warning[] {
  if (module.descriptor.mcp.only !== undefined) return [];
  const exposed = [...listExposed(module).values()];
  return exposed.flatMap(({ declared, shown }) => {
    if (declared.kind === 'route') return [];
    const isEntity = declared.kind === 'entity';
    const path = isEntity ? declared.entity.list_path : declared.action.invoke_path;
    const last = lastSegment(path ?? '');
    const twin = exposed.find(({ declared: other }) => {
      if (last === null || other.kind !== 'route') return false;
      const { method, declaredPath } = other.route;
      return (method === 'GET') === isEntity && lastSegment(declaredPath) === last;
    });
    if (twin === undefined) return [];
    const message = `mcp exposes '${shown.id}' and '${twin.shown.id}', which seem to do the same`;
    const hint = 'list what agents need in mcp.only, and say in mcp.tools when to use which';
    return { rule: 'twin-tools', message, hint, path: ['mcp'] };
  });
}

/** `null` for a path with a parameter, which addresses a single item. */
function lastSegment(path: string): string | null {
  return path.includes('{') ? null : (path.split('/').filter(Boolean).at(-1) ?? null);
}

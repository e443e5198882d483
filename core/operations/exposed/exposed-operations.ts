import type {
  AdminAction,
  AdminEntity,
  DangerLevel,
  ExposedOperation,
  Method,
  OperationArgument,
} from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import type { RouteTemplate } from '../../lib/routing/route-template.js';
import { isReading } from '../../manifest/read-rule.js';
import type { LiveRoute, RoutedModule } from '../../modules/live-module.js';
import { nameRoute, UniqueNames } from '../../openapi/operation-names.js';
import {
  ENTITY_ARGUMENTS,
  listActionArguments,
  listRouteArguments,
} from './operation-arguments.js';

export type Declared =
  | { readonly kind: 'route'; readonly route: LiveRoute; readonly template: RouteTemplate }
  | { readonly kind: 'entity'; readonly entity: AdminEntity }
  | { readonly kind: 'action'; readonly action: AdminAction };

/** An operation that the descriptor exposes, with its declaration. */
export interface FoundOperation {
  readonly shown: ExposedOperation;
  readonly declared: Declared;
}

type ExposingModule = Pick<RoutedModule, 'descriptor' | 'manifest' | 'routes'>;

type Operations = ReadonlyMap<string, FoundOperation>;

const NONE: Operations = new Map();
const cache = new WeakMap<ExposingModule, Operations>();

/**
 * Lists the operations that a module exposes to agents, by id, in the order of its manifest. Cached
 * for each version.
 */
export function listExposed(module: ExposingModule): Operations {
  if (module.descriptor.mcp.expose === 'none') return NONE;
  const made = cache.get(module) ?? createOperations(module);
  cache.set(module, made);
  return made;
}

/** Lists the ids that `mcp.only` can name. */
export function listOperationIds(module: ExposingModule): readonly string[] {
  return listDeclared(module).map(({ id }) => id);
}

function createOperations(module: ExposingModule): Operations {
  const { mcp, responses } = module.descriptor;
  const selection = mcp.only === undefined ? null : new Set(mcp.only);
  const operations = new Map<string, FoundOperation>();
  for (const { id, declared } of listDeclared(module)) {
    if (selection?.has(id) === false || !isExposed(mcp.expose, declared)) continue;
    const dangerLevel = dangerOf(declared);
    // A provider chooses ids, such as those of members that all objects have.
    const tool = mcp.tools && Object.hasOwn(mcp.tools, id) ? mcp.tools[id] : undefined;
    const description = {
      id,
      ...(tool !== undefined && { tool }),
      kind: declared.kind,
      name: nameOf(declared),
      reads: reads(declared),
      dangerLevel,
      needsApproval:
        mcp.approve === 'always' || (mcp.approve === 'danger' && dangerLevel !== 'low'),
      ...describeAnswer(declared, responses.mode),
      maxResultBytes: mcp.result_bytes,
      maxMediaBytes: mcp.media_bytes,
      isTool: isTool(declared),
      arguments: listArguments(declared),
    } as const;
    operations.set(id, { shown: description, declared });
  }
  return operations;
}

/** Entities and actions keep their names if a route has the same one. */
function listDeclared({ manifest: { admin }, routes }: ExposingModule) {
  const names = new UniqueNames();
  const claim = (name: string, declared: Declared) => ({ id: names.reserve(name), declared });
  const entities = (admin?.entities ?? []).map((entity) =>
    claim(`entity:${entity.name}`, { kind: 'entity', entity }),
  );
  const actions = (admin?.actions ?? []).map((action) =>
    claim(`action:${action.name}`, { kind: 'action', action }),
  );
  const ofRoutes = routes.entries.map((entry) => {
    const declaredName = entry.value.declared.operation?.operation_id ?? nameRoute(entry);
    return claim(declaredName, { kind: 'route', route: entry.value, template: entry.template });
  });
  return [...ofRoutes, ...entities, ...actions];
}

function isExposed(expose: Descriptor['mcp']['expose'], declared: Declared): boolean {
  if (declared.kind === 'entity') return true;
  if (declared.kind === 'action') return expose === 'all';
  return (expose === 'all' || isReading(declared.route.declared)) && isOfText(declared.route);
}

const TEXT_TYPE = /^(?:text\/|application\/(?:[^/]*\+)?(?:json|xml|yaml)$)/i;

/**
 * Agents read text: WebSockets and streams that are not optional are excluded. Bytes are allowed only
 * for listed text types, or beside JSON, which agents then send and ask for.
 */
function isOfText({ stream, isWebSocket, bodyBytes, responseBytes }: LiveRoute): boolean {
  return (
    (stream === null || stream.isOptional) &&
    !isWebSocket &&
    [bodyBytes, responseBytes].every(
      (rules) =>
        !rules || rules.besideJson || rules.types?.every((type) => TEXT_TYPE.test(type)) === true,
    )
  );
}

const DEFAULT_DANGER: Readonly<Record<Method, DangerLevel>> = {
  GET: 'low',
  POST: 'medium',
  PUT: 'medium',
  PATCH: 'medium',
  DELETE: 'high',
};

function dangerOf(declared: Declared): DangerLevel {
  if (declared.kind === 'entity') return 'low';
  if (declared.kind === 'action') return declared.action.danger_level ?? DEFAULT_DANGER.POST;
  const { method, declared: route } = declared.route;
  return route.operation?.danger_level ?? (isReading(route) ? 'low' : DEFAULT_DANGER[method]);
}

function reads(declared: Declared): boolean {
  if (declared.kind === 'route') return isReading(declared.route.declared);
  return declared.kind === 'entity';
}

function isTool(declared: Declared): boolean {
  if (declared.kind !== 'route' || !declared.route.givesToolResults) return false;
  const { isPlain, declared: route } = declared.route;
  const { query_schema, parameters = [] } = route.operation ?? {};
  return isPlain && query_schema == null && parameters.length === 0 && !route.path.includes('{');
}

function nameOf(declared: Declared): string {
  if (declared.kind === 'entity') return declared.entity.name;
  return declared.kind === 'action' ? declared.action.name : declared.route.name;
}

function listArguments(declared: Declared): readonly OperationArgument[] {
  if (declared.kind === 'entity') return ENTITY_ARGUMENTS;
  if (declared.kind === 'action') return listActionArguments(declared.action);
  return listRouteArguments(declared.route, declared.template);
}

/** The schema of a raw answer does not cover an absent body. */
function describeAnswer(
  declared: Declared,
  mode: Descriptor['responses']['mode'],
): Pick<ExposedOperation, 'response' | 'enforcesOutput'> {
  if (declared.kind !== 'route') return { response: 'raw', enforcesOutput: false };
  const { responseBytes, schemas } = declared.route;
  const response = responseBytes?.besideJson === false ? 'bytes' : mode;
  const isEnforced = schemas?.output?.mode === 'enforce';
  return { response, enforcesOutput: response === 'envelope' && isEnforced };
}

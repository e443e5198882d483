import type {
  AdminAction,
  OperationArgument,
  RouteParameter,
  SchemaObject,
} from '../../contract/index.js';
import { listParameters, type RouteTemplate } from '../../lib/routing/route-template.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { UniqueNames } from '../../openapi/operation-names.js';

const BODY = 'body';
/** The names that model APIs accept; JavaScript gives `__proto__` another meaning. */
const ACCEPTED = /^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$/;
const REJECTED_CHARACTERS = /[^A-Za-z0-9_.-]+/g;
const EDGES = /^_+|_+$/g;
/** Leaves room for a numeric suffix. */
const MAX_CHANGED_LENGTH = 56;

type Unnamed = Omit<OperationArgument, 'name'>;

/** The arguments of every entity. */
export const ENTITY_ARGUMENTS: readonly OperationArgument[] = (['limit', 'cursor'] as const).map(
  (name) => ({ name, place: name, wireName: name, isRequired: false }),
);

/** An action without a schema accepts any input, or none. */
export function listActionArguments({ input_schema }: AdminAction): OperationArgument[] {
  const isRequired = input_schema?.fields.some(({ required }) => required === true) ?? false;
  return [{ name: BODY, place: 'body', wireName: BODY, isRequired }];
}

export function listRouteArguments(
  { declared, body }: Pick<LiveRoute, 'declared' | 'body'>,
  template: RouteTemplate,
): OperationArgument[] {
  const path = listParameters(template).map(({ kind, name }): Unnamed => {
    return { place: 'path', wireName: name, isRequired: true, isRest: kind === 'rest' };
  });
  const { query_schema = null, parameters = [] } = declared.operation ?? {};
  const unchecked = parameters.filter(({ in: place }) => place === 'query').map(toUnchecked);
  const named = nameArguments(path, [...listQuery(query_schema), ...unchecked]);
  if (body === 'none') return named;
  const isText = body === 'bytes';
  const isRequired = body !== 'optional';
  return [...named, { name: BODY, place: 'body', wireName: BODY, isRequired, isText }];
}

function listQuery(schema: SchemaObject | null): Unnamed[] {
  const { properties, required: names } = schema ?? {};
  const required = new Set<unknown>(Array.isArray(names) ? names : []);
  const all = new Set([...Object.keys(properties ?? {}), ...required].map(String));
  return [...all].map((wireName) => {
    return { place: 'query', wireName, isRequired: required.has(wireName) };
  });
}

function toUnchecked({ name, required }: RouteParameter): Unnamed {
  return { place: 'query', wireName: name, isRequired: required === true };
}

/**
 * A name that stands in both path and query, or is `body`, gets its place as a prefix. Other
 * characters become `_`. Names that need no change are never given to others.
 */
function nameArguments(path: readonly Unnamed[], query: readonly Unnamed[]): OperationArgument[] {
  const pathNames = new Set([BODY, ...path.map(({ wireName }) => wireName)]);
  const queryNames = new Set([BODY, ...query.map(({ wireName }) => wireName)]);
  const names = new UniqueNames();
  names.reserve(BODY);
  const preferred = [...path, ...query].map((argument) => {
    const { place, wireName } = argument;
    const isShared = (place === 'path' ? queryNames : pathNames).has(wireName);
    const name = isShared ? `${place}_${wireName}` : wireName;
    return { argument, name, isKept: !isShared && ACCEPTED.test(name) };
  });
  for (const { name, isKept } of preferred) if (isKept) names.reserve(name);
  return preferred.map(({ argument, name, isKept }) => ({
    name: isKept ? name : names.reserve(makeAcceptable(name, argument.place)),
    ...argument,
  }));
}

function makeAcceptable(name: string, place: string): string {
  if (ACCEPTED.test(name)) return name;
  const changed = name.replace(REJECTED_CHARACTERS, '_').replace(EDGES, '');
  return changed.slice(0, MAX_CHANGED_LENGTH) || place;
}

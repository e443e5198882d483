import {
  type AdminAction,
  escapeLine,
  type ManifestRoute,
  type SchemaObject,
} from '../../core/contract/index.js';
import { listPathParameters } from './path-template.js';

/** An argument of a tool, with its place in the request. */
export interface ToolParameter {
  /** The name of the argument. */
  readonly argument: string;
  readonly place: 'path' | 'query' | 'body' | 'cursor' | 'limit';
  /** The name in the request. */
  readonly name: string;
  readonly isRequired: boolean;
  /** Whether a path value has several segments. */
  readonly isRest?: boolean;
}

const BODY = 'body';

/**
 * The parameters of a route. A name that occurs in both path and query, or is `body`, gets its
 * place as a prefix.
 */
export function listRouteParameters(route: ManifestRoute): ToolParameter[] {
  const path = listPathParameters(route.path);
  const query = listQueryNames(route.operation?.query_schema ?? null);
  const argumentOf = (name: string, place: 'path' | 'query') => {
    const others: readonly { readonly name: string }[] = place === 'path' ? query : path;
    const isShared = name === BODY || others.some((other) => other.name === name);
    return escapeLine(isShared ? `${place}_${name}` : name);
  };
  const body = bodyRuleOf(route);
  return [
    ...path.map(({ name, isRest }): ToolParameter => {
      return { argument: argumentOf(name, 'path'), place: 'path', name, isRequired: true, isRest };
    }),
    ...query.map(({ name, isRequired }): ToolParameter => {
      return { argument: argumentOf(name, 'query'), place: 'query', name, isRequired };
    }),
    ...(body === 'none' ? [] : [createBody(body !== 'optional')]),
  ];
}

/** An action without a schema accepts any input, or none. */
export function listActionParameters({ input_schema }: AdminAction): ToolParameter[] {
  return [createBody(input_schema?.fields.some(({ required }) => required === true) ?? false)];
}

/** The parameters of every entity. */
export const ENTITY_PARAMETERS: readonly ToolParameter[] = (['limit', 'cursor'] as const).map(
  (name) => ({ argument: name, place: name, name, isRequired: false }),
);

function createBody(isRequired: boolean): ToolParameter {
  return { argument: BODY, place: 'body', name: BODY, isRequired };
}

/** The body rule of the host. */
export function bodyRuleOf({ method, operation }: ManifestRoute) {
  return operation?.body ?? (method === 'GET' || method === 'DELETE' ? 'none' : 'required');
}

function listQueryNames(schema: SchemaObject | null) {
  const required = new Set(Array.isArray(schema?.['required']) ? schema['required'] : []);
  const names = new Set([...Object.keys(readProperties(schema)), ...required].map(String));
  return [...names].map((name) => ({ name, isRequired: required.has(name) }));
}

export function readProperties(schema: SchemaObject | null): Readonly<Record<string, unknown>> {
  const properties = schema?.['properties'];
  return typeof properties === 'object' && properties !== null
    ? (properties as Record<string, unknown>)
    : {};
}

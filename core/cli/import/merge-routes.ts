import type { RouteParameter, StreamForm } from '../../contract/index.js';
import { defaultBodyRule } from '../../manifest/body-rule.js';
import { shapeOf } from '../../manifest/route-rules.js';
import { STREAM_TYPES } from '../../manifest/stream-rules.js';
import { asList, asObject, isObject, type JsonObject } from '../json-value.js';
import { type DraftOperation, type DraftRoute, OPERATION_PLACE } from './draft-manifest.js';
import { SHARED_ROUTE, type UnmappedParts } from './unmapped.js';

/**
 * Merges the routes of one method whose paths differ only in parameter names: a request could match
 * any of them. The merged route has the name of the first one.
 */
export function mergeRoutes(routes: readonly DraftRoute[], unmapped: UnmappedParts): DraftRoute[] {
  const merged = new Map<string, DraftRoute>();
  for (const route of routes) {
    const isSocket = route.operation?.stream === 'websocket';
    const key = `${isSocket} ${route.method} ${shapeOf(route)}`;
    const first = merged.get(key);
    merged.set(key, first === undefined ? route : mergeTwo(first, route));
    if (first === undefined) continue;
    const reason = `it shares that of ${first[OPERATION_PLACE]}, which accepts what any of them accepts`;
    unmapped.add(route[OPERATION_PLACE], SHARED_ROUTE, reason);
  }
  return [...merged.values()];
}

const PARAMETER = /\{[^{}]*\}/g;

function mergeTwo(first: DraftRoute, second: DraftRoute): DraftRoute {
  const { deprecated, operation: _operation, ...others } = first;
  const operation = mergeOperations(first, second);
  return {
    ...others,
    ...(deprecated && second.deprecated && { deprecated }),
    ...(Object.keys(operation).length > 0 && { operation }),
  };
}

function mergeOperations(first: DraftRoute, second: DraftRoute): DraftOperation {
  const [a, b] = [first.operation ?? {}, second.operation ?? {}];
  const renamed = (b.encoded ?? []).map((name) => renameParameter(first, second, name));
  const encoded = new Set([...(a.encoded ?? []), ...renamed]);
  const path = mergePaths(first, second);
  const query = mergeQueries(a.query_schema, b.query_schema);
  const parameters = mergeParameters(a, b);
  const examples = mergeExamples(a, b);
  return {
    ...(a.operation_id !== undefined && { operation_id: a.operation_id }),
    ...(a.idempotency && b.idempotency && { idempotency: a.idempotency }),
    ...mergeBodies(first, second),
    ...mergeResponses(a, b),
    ...(encoded.size > 0 && { encoded: [...encoded] }),
    ...(query !== undefined && { query_schema: query }),
    ...(path !== undefined && { path_params_schema: path }),
    ...(parameters.length > 0 && { parameters }),
    ...(examples.length > 0 && { examples }),
  };
}

/** The name in the first route of a parameter of the second one. */
function renameParameter(first: DraftRoute, second: DraftRoute, name: string): string {
  const listNames = ({ path }: DraftRoute): readonly string[] => path.match(PARAMETER) ?? [];
  const [names, others] = [listNames(first), listNames(second)];
  return names[others.indexOf(`{${name}}`)]?.slice(1, -1) ?? name;
}

/**
 * The schemas of parameters that both have. For other parameters, one of them accepts any value.
 */
function mergePaths(first: DraftRoute, second: DraftRoute): JsonObject | undefined {
  const [own, others] = [first, second].map(({ operation }) => {
    return asObject(operation?.path_params_schema?.['properties']);
  });
  const renamed = new Map(
    Object.entries(others ?? {}).map(([name, schema]) => [
      renameParameter(first, second, name),
      JSON.stringify(schema),
    ]),
  );
  const shared = Object.entries(own ?? {}).filter(([name, schema]) => {
    return renamed.get(name) === JSON.stringify(schema);
  });
  if (shared.length === 0) return undefined;
  return { type: 'object', properties: Object.fromEntries(shared) };
}

function mergeBodies(first: DraftRoute, second: DraftRoute): DraftOperation {
  const routes = [first, second].map(({ operation = {} }) => {
    return { ...operation, body: operation.body ?? defaultBodyRule(first) };
  });
  const rules = new Set(routes.map(({ body }) => body));
  const [rule = 'none'] = rules;
  const [a, b] = routes;
  if (rules.has('bytes')) {
    const types = rules.size === 1 ? unite(a?.body_types, b?.body_types) : undefined;
    return { body: 'bytes', ...(types !== undefined && { body_types: types }) };
  }
  const body = rules.size === 1 ? rule : 'optional';
  const isDefault = body === defaultBodyRule(first);
  const withBody = routes.filter((one) => one.body !== 'none');
  const schema = uniteSchemas(withBody.map((one) => one.input_schema));
  const types = new Set(withBody.flatMap((one) => one.body_types ?? []));
  return {
    ...(!isDefault && { body }),
    ...(types.size > 0 && { body_types: [...types] }),
    ...(schema !== undefined && { input_schema: schema }),
  };
}

/** A stream can be combined with JSON; responses of other kinds are carried as bytes. */
function mergeResponses(a: DraftOperation, b: DraftOperation): DraftOperation {
  const streamed = [a, b].filter(({ stream }) => stream !== undefined);
  const [stream, ...others] = new Set(streamed.map((one) => one.stream));
  if (a.response !== b.response || others.length > 0) return { response: 'bytes' };
  const ofJson = [a, b].filter((one) => one.stream === undefined || one.stream_optional === true);
  const schema = uniteSchemas(ofJson.map((one) => one.output_schema));
  const types =
    a.response === 'bytes'
      ? unite(a.response_types, b.response_types)
      : [...new Set([a, b].flatMap((one) => one.response_types ?? []))];
  if (stream !== undefined && types?.length) return { response: 'bytes' };
  return {
    ...(a.response !== undefined && { response: a.response }),
    ...(types?.length && { response_types: types }),
    ...(stream !== undefined && { stream, ...mergeStreams(stream, streamed) }),
    ...(stream !== undefined && ofJson.length > 0 && { stream_optional: true }),
    ...(schema !== undefined && { output_schema: schema }),
  };
}

function mergeStreams(stream: StreamForm, streamed: readonly DraftOperation[]) {
  if (stream === 'websocket' || streamed.every((one) => one.stream_types === undefined)) return {};
  const types = streamed.flatMap((one) => one.stream_types ?? STREAM_TYPES[stream]);
  return { stream_types: [...new Set(types)] };
}

/** Without a list, all types are accepted. */
function unite(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): string[] | undefined {
  return a && b && [...new Set([...a, ...b])];
}

/** Kept, because each merge reads the schemas of those before it. */
const texts = new WeakMap<object, string>();

function textOf(schema: JsonObject | undefined): string | undefined {
  if (schema === undefined) return undefined;
  const text = texts.get(schema) ?? JSON.stringify(schema);
  texts.set(schema, text);
  return text;
}

/** A schema that accepts what any of them accepts; a missing one accepts everything. */
function uniteSchemas(schemas: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  // Nested unions are flattened, because a route may merge hundreds of operations.
  const all = schemas.flatMap((schema) => (isUnion(schema) ? schema.anyOf : [schema]));
  const distinct = new Map(all.map((schema) => [textOf(schema), schema]));
  const [first] = distinct.values();
  if (distinct.size <= 1) return first;
  const alternatives = [...distinct.values()].filter(isObject);
  return alternatives.length < distinct.size ? undefined : { anyOf: alternatives };
}

function isUnion(
  schema: JsonObject | undefined,
): schema is { readonly anyOf: readonly (JsonObject | undefined)[] } {
  return Object.keys(schema ?? {}).join() === 'anyOf' && Array.isArray(schema?.['anyOf']);
}

/** A parameter that differs is not checked: the host reads it by one type. */
function mergeQueries(a: JsonObject = {}, b: JsonObject = {}): JsonObject | undefined {
  const [one, other] = [asObject(a['properties']), asObject(b['properties'])];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  if (names.size === 0) return undefined;
  const properties = [...names].map((name) => {
    const [first = other[name], second = one[name]] = [one[name], other[name]];
    return [name, JSON.stringify(first) === JSON.stringify(second) ? first : {}] as const;
  });
  const others = asList(b['required']);
  const required = asList(a['required']).filter((name) => others.includes(name));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

/** Those of either. A name that the query schema has is rejected later, with a line. */
function mergeParameters(a: DraftOperation, b: DraftOperation): RouteParameter[] {
  const keyOf = ({ in: place, name }: RouteParameter) =>
    `${place} ${place === 'header' ? name.toLowerCase() : name}`;
  const lists = [a.parameters ?? [], b.parameters ?? []].map((list) => {
    return new Map(list.map((parameter) => [keyOf(parameter), parameter]));
  });
  const all = new Map(lists.toReversed().flatMap((list) => [...list]));
  return [...all].map(([key, { required, ...others }]) => {
    const isRequired = lists.every((list) => list.get(key)?.required === true);
    return { ...others, ...(isRequired && { required: true }) };
  });
}

function mergeExamples(a: DraftOperation, b: DraftOperation) {
  const examples = new Map((a.examples ?? []).map((example) => [example.name, example]));
  for (const example of b.examples ?? []) {
    const { operation_id: id = 'other' } = b;
    const name = examples.has(example.name) ? `${id} ${example.name}` : example.name;
    examples.set(name, { ...example, name });
  }
  return [...examples.values()];
}

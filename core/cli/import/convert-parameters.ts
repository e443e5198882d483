import type { RouteParameter } from '../../contract/index.js';
import { explainDeniedHeader } from '../../descriptor/sections/forward-headers.js';
import { ALWAYS_FORWARDED, REQUEST_IDS, TRACE_CONTEXT } from '../../lib/header-names.js';
import { IGNORED_HEADERS } from '../../manifest/parameter-rules.js';
import { asList, asObject, asText, type JsonObject } from '../json-value.js';
import {
  convertQueryParameter,
  hasRules,
  READ_TYPES,
  simplify,
} from './convert-query-parameter.js';
import { convertSchema } from './convert-schema.js';
import { followAny, followComponent } from './openapi-document.js';
import type { OperationContext } from './operation-context.js';
import { readExamples, UNNAMED } from './read-examples.js';
import { followSchema } from './schema-keywords.js';

interface ConvertedParameters {
  readonly querySchema: JsonObject | null;
  /** The schemas of path parameters, by name. */
  readonly pathSchemas: ReadonlyMap<string, JsonObject>;
  /** What a query schema cannot express, and headers that a provider may get. */
  readonly parameters: readonly RouteParameter[];
  /** Whether the operation has a parameter for the header `idempotency-key`. */
  readonly requiresKey: boolean;
  /** The path parameters whose values may contain a slash. */
  readonly encoded: readonly string[];
  /** The path parameters that documents of a host mark: their values have several segments. */
  readonly rest: readonly string[];
}

/** Headers that reach every provider in every mode, as sent or with the value of the request. */
const FORWARDED: ReadonlySet<string> = new Set([
  ...ALWAYS_FORWARDED,
  ...REQUEST_IDS,
  ...TRACE_CONTEXT,
]);

const NOT_FORWARDED =
  'the header is not forwarded: name it in forward_headers of the descriptor if it may be';

/** Converts the parameters of a path item and of its operation, which override those of the path item. */
export function convertParameters(
  item: JsonObject,
  operation: JsonObject,
  context: OperationContext,
): ConvertedParameters {
  const parameters = new Map<string, JsonObject>();
  const listed = [item, operation].flatMap(({ parameters: list }) => {
    const { value, problem } = followAny(context.document, list);
    if (problem !== null) context.report('parameters', `they are ${problem}`);
    return asList(value);
  });
  for (const entry of listed) {
    const { value: parameter, problem } = followComponent(context.document, entry);
    if (problem !== null) {
      context.report('a parameter', `it is ${problem}: the host does not check it`);
      continue;
    }
    parameters.set(`${String(parameter['in'])} ${String(parameter['name'])}`, parameter);
  }
  const all = [...parameters.values()];
  for (const parameter of all) listUnmapped(parameter, context);
  const listIn = (place: string) => all.filter((parameter) => parameter['in'] === place);
  const query = convertQuery(listIn('query'), context);
  const requiresKey = listIn('header').some(
    ({ name, required }) => required === true && isKey(asText(name)),
  );
  const headers = listIn('header').filter(({ name }) => isShown(asText(name), requiresKey));
  return {
    querySchema: query.schema,
    parameters: [...query.others, ...headers].flatMap((one) => describeParameter(one, context)),
    pathSchemas: convertPath(listIn('path'), context),
    encoded: listIn('path')
      .filter((parameter) => mayHoldSlash(parameter, context))
      .flatMap(({ name }) => asText(name) ?? []),
    rest: listIn('path').flatMap(({ name, 'x-modgate-rest': isRest }) => {
      return isRest === true ? (asText(name) ?? []) : [];
    }),
    requiresKey,
  };
}

function isKey(name = ''): boolean {
  return name.toLowerCase() === 'idempotency-key';
}

/** Whether a provider may get the header, and nothing else of the route describes it. */
function isShown(name: string | undefined, requiresKey: boolean): boolean {
  if (name === undefined || IGNORED_HEADERS.has(name.toLowerCase())) return false;
  if (requiresKey && isKey(name)) return false;
  return FORWARDED.has(name.toLowerCase()) || explainDeniedHeader(name) === null;
}

const FLAGS = ['required', 'deprecated', 'allowEmptyValue', 'allowReserved'] as const;
const OF_QUERY: ReadonlySet<string> = new Set(['allowEmptyValue', 'allowReserved']);

/** Copies what OpenAPI says of a parameter, with its schema as one of the manifest. */
function describeParameter(parameter: JsonObject, context: OperationContext): RouteParameter[] {
  const { name, in: place, style, explode, schema, content } = parameter;
  if (typeof name !== 'string' || (place !== 'query' && place !== 'header')) return [];
  const convert = (one: unknown) => {
    return convertSchema(one, { ...context, direction: 'input' }) ?? {};
  };
  const [media] = Object.entries(asObject(content));
  const description = asText(parameter['description']);
  const flags = FLAGS.filter(
    (flag) => parameter[flag] === true && (place === 'query' || !OF_QUERY.has(flag)),
  );
  return [
    {
      name,
      in: place,
      ...(description !== undefined && { description }),
      ...Object.fromEntries(flags.map((flag) => [flag, true])),
      ...(isStyle(style) && { style }),
      ...(typeof explode === 'boolean' && { explode }),
      ...(media === undefined
        ? { schema: convert(schema) }
        : { content: { [media[0]]: { schema: convert(asObject(media[1])['schema']) } } }),
      ...describeExamples(listOwners(parameter), context),
    },
  ];
}

/** A parameter has its examples, and so does its media type. */
function listOwners(parameter: JsonObject): JsonObject[] {
  return [parameter, ...Object.values(asObject(parameter['content'])).map(asObject)];
}

function describeExamples(owners: readonly JsonObject[], context: OperationContext) {
  const examples = readExamples(owners, context);
  const unnamed = examples.get(UNNAMED);
  if (examples.size === 0) return {};
  if (examples.size === 1 && unnamed !== undefined) return { example: unnamed.value };
  return { examples: Object.fromEntries(examples) };
}

function isStyle(style: unknown): style is NonNullable<RouteParameter['style']> {
  return STYLES.has(style);
}

const STYLES: ReadonlySet<unknown> = new Set([
  ...['deepObject', 'form', 'pipeDelimited', 'simple', 'spaceDelimited'],
]);

/** Checks the extension, the examples and the allowed values. */
function mayHoldSlash(parameter: JsonObject, context: OperationContext): boolean {
  const { schema, 'x-multi-segment': isMarked } = parameter;
  const rules = followSchema(context.document, schema);
  const { example, default: value, enum: values, examples } = rules;
  const named = [...readExamples([parameter], context).values()].map((one) => one.value);
  const all = [example, value, ...named, ...asList(values), ...asList(examples)];
  return isMarked === true || all.some((text) => typeof text === 'string' && text.includes('/'));
}

function listUnmapped(parameter: JsonObject, { report }: OperationContext): void {
  const name = asText(parameter['name']) ?? '?';
  switch (parameter['in']) {
    case 'query':
      return;
    case 'cookie':
      report(`cookie ${name}`, 'cookies are not forwarded');
      return;
    case 'header':
      if (IGNORED_HEADERS.has(name.toLowerCase()) || FORWARDED.has(name.toLowerCase())) return;
      report(`header ${name}`, explainDeniedHeader(name) ?? NOT_FORWARDED);
      return;
    case 'path': {
      const { style = 'simple' } = parameter;
      if (style !== 'simple') {
        report(`style of the path parameter ${name}`, 'the segment is one text');
      }
      return;
    }
    default:
      report(`parameter ${name}`, "its 'in' is not query, path, header or cookie");
  }
}

function convertQuery(parameters: readonly JsonObject[], context: OperationContext) {
  const properties: [string, JsonObject][] = [];
  const others: JsonObject[] = [];
  const required: string[] = [];
  for (const parameter of parameters) {
    const name = asText(parameter['name']);
    if (name === undefined || name === '__proto__' || !name.isWellFormed()) {
      context.report('a query parameter', 'a manifest cannot hold its name');
      continue;
    }
    const property = convertQueryParameter(name, parameter, context);
    if (property === null) {
      others.push(parameter);
      continue;
    }
    properties.push([name, withAnnotations(property, parameter, context)]);
    if (parameter['required'] === true) required.push(name);
  }
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
  return { schema: properties.length === 0 ? null : schema, others };
}

function convertPath(
  parameters: readonly JsonObject[],
  context: OperationContext,
): ReadonlyMap<string, JsonObject> {
  return new Map(
    parameters.flatMap((parameter): [string, JsonObject][] => {
      const name = asText(parameter['name']);
      if (name === undefined) return [];
      const checked = convertPathParameter(name, parameter, context);
      const schema = withAnnotations(checked, parameter, context);
      const { type = 'string', ...others } = schema;
      // Without a schema, each parameter is a text.
      return type === 'string' && Object.keys(others).length === 0 ? [] : [[name, schema]];
    }),
  );
}

/** A value that may hold a slash, or has a style, is not checked: the provider reads another text. */
function convertPathParameter(
  name: string,
  parameter: JsonObject,
  context: OperationContext,
): JsonObject {
  const { style = 'simple' } = parameter;
  const schema = simplify(context.document, parameter['schema']);
  const { nullable: _nullable, ...rules } = schema;
  const isRead =
    READ_TYPES.has(schema['type']) && style === 'simple' && !mayHoldSlash(parameter, context);
  if (isRead) return convertSchema(rules, { ...context, direction: 'input' }) ?? {};
  const { type, ...others } = schema;
  if ((type !== undefined && type !== 'string') || hasRules(others)) {
    context.report(`schema of the path parameter ${name}`, 'the host does not check it');
  }
  return {};
}

/** Adds the texts and the examples of the parameter, unless its schema has examples. */
function withAnnotations(
  schema: JsonObject,
  parameter: JsonObject,
  context: OperationContext,
): JsonObject {
  const description = asText(parameter['description']);
  const examples = [...readExamples(listOwners(parameter), context)].flatMap(([name, one]) => {
    if (typeof one.value !== 'object' || schema['type'] !== 'string') return [one.value];
    context.report(`example ${name}`, 'the host reads one text');
    return [];
  });
  return {
    ...(examples.length > 0 && { examples }),
    ...schema,
    ...(description !== undefined && { description }),
    ...(parameter['deprecated'] === true && { deprecated: true }),
  };
}

import { asObject, isObject, type JsonObject } from '../json-value.js';
import { convertSchema, type Direction } from './convert-schema.js';
import { follow, type OpenApiDocument } from './openapi-document.js';
import type { UnmappedParts } from './unmapped.js';

type BodyRule = 'required' | 'optional' | 'none';

interface ConvertedBody {
  readonly rule: BodyRule;
  readonly schema: JsonObject | null;
  /** By name. */
  readonly examples: ReadonlyMap<string, unknown>;
}

interface ConvertedResponse {
  readonly schema: JsonObject | null;
  readonly examples: ReadonlyMap<string, unknown>;
}

interface BodyContext {
  readonly document: OpenApiDocument;
  /** The operation. */
  readonly place: string;
  readonly unmapped: UnmappedParts;
}

interface MediaTypes {
  /** The values of JSON types. */
  readonly json: readonly JsonObject[];
  /** The names of all others. */
  readonly others: readonly string[];
}

const JSON_TYPE = /^(?:application\/(?:json|[^\s;]+\+json|\*)|\*\/\*)\s*(?:;|$)/i;

/** Converts the body of a request. Returns the reason as a text where the host rejects every body. */
export function convertRequestBody(
  operation: JsonObject,
  hasBody: boolean,
  context: BodyContext,
): ConvertedBody | string {
  const none: ConvertedBody = { rule: 'none', schema: null, examples: new Map() };
  if (operation['requestBody'] === undefined) return none;
  const body = follow(context.document, operation['requestBody']);
  const { json, others } = splitMediaTypes(body);
  if (!hasBody) {
    context.unmapped.add(context.place, 'body of the request', 'a GET has none');
    return none;
  }
  if (json.length === 0) {
    if (others.length === 0) return none;
    return `its body is ${others.join(' or ')}: the host accepts JSON only`;
  }
  listOtherTypes('request', others, context);
  return {
    rule: body['required'] === true ? 'required' : 'optional',
    schema: convertAlternatives(
      json.map(({ schema }) => schema),
      'input',
      context,
    ),
    examples: readExamples(json, context),
  };
}

/** Converts the responses with a status 2xx. Returns the reason as a text where none of them is JSON. */
export function convertResponses(
  operation: JsonObject,
  context: BodyContext,
): ConvertedResponse | string {
  const responses = Object.entries(asObject(operation['responses'])).map(
    ([status, response]) => [status, follow(context.document, response)] as const,
  );
  const successes = responses.filter(([status]) => /^2/.test(status));
  const defaults = responses.filter(([status]) => status === 'default');
  const used = successes.length > 0 ? successes : defaults;
  listUnused(responses, used, context);
  const types = used.map(([, response]) => splitMediaTypes(response));
  const json = types.flatMap((one) => one.json);
  const others = types.flatMap((one) => one.others);
  const isEmpty = types.some((one) => one.json.length === 0 && one.others.length === 0);
  if (used.length === 0 && responses.length > 0) {
    return `it answers ${responses.map(([status]) => status).join(', ')}: the host expects 2xx`;
  }
  if (json.length === 0 && others.length > 0 && !isEmpty) {
    return `it answers ${others.join(' or ')}: the host accepts JSON only`;
  }
  listOtherTypes('response', others, context);
  const schemas = json.map(({ schema }) => schema);
  return {
    schema: convertAlternatives(isEmpty ? [...schemas, NULL] : schemas, 'output', context),
    examples: readExamples(json, context),
  };
}

/** In the envelope, a response without a body is `null`. */
const NULL: JsonObject = { enum: [null] };

function splitMediaTypes(body: JsonObject): MediaTypes {
  const entries = Object.entries(asObject(body['content']));
  const json = entries.filter(([type]) => JSON_TYPE.test(type)).map(([, value]) => asObject(value));
  return { json, others: entries.map(([type]) => type).filter((type) => !JSON_TYPE.test(type)) };
}

/** One schema for several media types or statuses. `null` where one of them has none: any value is valid. */
function convertAlternatives(
  schemas: readonly unknown[],
  direction: Direction,
  context: BodyContext,
): JsonObject | null {
  const distinct = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  const alternatives = [...distinct.values()];
  const isOpen = alternatives.some((schema) => schema === undefined || schema === true);
  if (isOpen || alternatives.length === 0) return null;
  const [first] = alternatives;
  if (alternatives.length === 1 && first === NULL) return { type: 'null' };
  return convertSchema(alternatives.length === 1 ? first : { anyOf: alternatives }, {
    ...context,
    direction,
  });
}

function listOtherTypes(subject: string, types: readonly string[], context: BodyContext): void {
  const { place, unmapped } = context;
  for (const type of types) {
    unmapped.add(place, `${subject} as ${type}`, 'the host carries JSON only');
  }
}

function listUnused(
  responses: readonly (readonly [string, JsonObject])[],
  used: readonly (readonly [string, JsonObject])[],
  { place, unmapped }: BodyContext,
): void {
  for (const [status, response] of responses) {
    const isUsed = used.some(([one]) => one === status);
    if (!isUsed && isObject(response['content'])) {
      unmapped.add(place, 'schemas of error responses', 'clients get Problems instead');
    }
    for (const name of isUsed ? Object.keys(asObject(response['headers'])) : []) {
      const reason = 'name it in responses.expose_headers of the descriptor';
      unmapped.add(place, `response header ${name}`, reason);
    }
    if (isObject(response['links'])) unmapped.add(place, 'links', 'a manifest has none');
  }
}

function readExamples(
  mediaTypes: readonly JsonObject[],
  { document }: BodyContext,
): Map<string, unknown> {
  const examples = new Map<string, unknown>();
  for (const { example, examples: named } of mediaTypes) {
    if (example !== undefined && !examples.has('example')) examples.set('example', example);
    for (const [name, entry] of Object.entries(asObject(named))) {
      const { value } = follow(document, entry);
      if (value !== undefined && !examples.has(name)) examples.set(name, value);
    }
  }
  return examples;
}

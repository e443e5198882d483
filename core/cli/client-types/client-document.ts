import { asList, asObject, asText, isObject, type JsonObject } from '../json-value.js';
import { METHODS } from '../openapi/read-document.js';
import { cleanSchema } from './clean-schema.js';

/** What `modgate client` writes types of. */
export interface ClientDocument {
  /** An OpenAPI document for openapi-typescript. */
  readonly document: JsonObject;
  readonly modules: readonly string[];
  readonly routes: number;
  /** `GET /path` of routes without types: streams of events and WebSockets. */
  readonly leftOut: readonly string[];
}

/**
 * Creates a document of what types need. It is created anew, because a document of a remote host
 * may refer to files and other hosts, which openapi-typescript would read.
 */
export function createClientDocument(source: JsonObject): ClientDocument {
  const paths: Record<string, Record<string, object>> = {};
  const modules = new Set<string>();
  const leftOut: string[] = [];
  let routes = 0;
  const { schemas, responses } = asObject(source['components']);
  for (const [path, item] of Object.entries(asObject(source['paths']))) {
    for (const method of METHODS) {
      const operation = asObject(item)[method];
      if (!isObject(operation)) continue;
      modules.add(asText(asList(operation['tags'])[0]) ?? 'default');
      if (isStream(operation)) {
        leftOut.push(`${method.toUpperCase()} ${path}`);
        continue;
      }
      routes += 1;
      const ownPath = markRest(path, operation);
      paths[ownPath] = { ...paths[ownPath], [method]: cleanOperation(operation, schemas) };
    }
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'modgate', version: '1' },
    paths,
    components: {
      schemas: mapObject(schemas, cleanSchema),
      responses: mapObject(responses, cleanResponse),
    },
  };
  return { document, modules: [...modules], routes, leftOut };
}

function isStream({ responses }: JsonObject): boolean {
  return ['101', '200'].some(
    (status) => asObject(asObject(responses)[status])['x-modgate-stream'] !== undefined,
  );
}

/** Marks parameters that take several segments, for the runtime of clients: `{path...}`. */
function markRest(path: string, { parameters }: JsonObject): string {
  const rest = asList(parameters).filter((one) => asObject(one)['x-modgate-rest'] === true);
  return rest
    .map((parameter) => `{${String(asObject(parameter)['name'])}`)
    .reduce((marked, name) => marked.replace(`${name}}`, () => `${name}...}`), path);
}

function cleanOperation(operation: JsonObject, schemas: unknown): object {
  const { operationId, summary, deprecated, parameters, requestBody, responses } = operation;
  return {
    // openapi-typescript replaces it, which may lead to equal names.
    operationId: String(operationId).replaceAll('#', '_'),
    summary: asText(summary),
    description: describeOperation(operation),
    deprecated: deprecated === true,
    parameters: cleanParameters(asList(parameters), schemas),
    requestBody: isObject(requestBody) ? cleanBody(requestBody) : undefined,
    responses: mapObject(responses, cleanResponse),
  };
}

function describeOperation({ description, security }: JsonObject): string {
  const requirements = asList(security).map((one) => Object.values(asObject(one))[0]);
  const capability = requirements.map((roles) => asText(asList(roles)[0])).find(Boolean);
  const needs = capability === undefined ? [] : [`Needs \`${capability}\`.`];
  return [...needs, asText(description)].filter((text) => text !== undefined).join('\n\n');
}

function cleanParameters(parameters: readonly unknown[], schemas: unknown): object[] {
  const cleaned = new Map<string, object>();
  for (const parameter of parameters.flatMap((one) => fitParameter(asObject(one), schemas))) {
    const key = `${parameter['in']} ${parameter['name']}`;
    if (!cleaned.has(key)) cleaned.set(key, cleanParameter(parameter));
  }
  return [...cleaned.values()];
}

/**
 * Fits a parameter to the client, which writes objects as `name[member]`: members of an exploded
 * form are parameters of their own, and values in other forms are texts.
 */
function fitParameter(parameter: JsonObject, schemas: unknown): JsonObject[] {
  const { in: place, content, schema } = parameter;
  const { style = place === 'query' ? 'form' : 'simple' } = parameter;
  const { explode = style === 'form' } = parameter;
  if (content !== undefined) return [{ ...parameter, schema: TEXT }];
  const { type, properties, required } = followSchema(schema, schemas);
  if (place === 'path' || style === 'deepObject') return [parameter];
  if (type === 'array' && explode !== true) return [{ ...parameter, schema: TEXT }];
  if (type !== 'object') return [parameter];
  if (explode !== true || style !== 'form') return [{ ...parameter, schema: TEXT }];
  return Object.entries(asObject(properties)).map(([name, member]) => {
    const isRequired = parameter['required'] === true && asList(required).includes(name);
    const { description } = asObject(member);
    return { name, in: place, required: isRequired, description, schema: member };
  });
}

const TEXT = { type: 'string' };
const MAX_REFERENCES = 20;

function followSchema(schema: unknown, schemas: unknown): JsonObject {
  let found = asObject(schema);
  for (let count = 0; count < MAX_REFERENCES; count += 1) {
    const { $ref: reference } = found;
    if (typeof reference !== 'string') return found;
    found = asObject(asObject(schemas)[reference.replace('#/components/schemas/', '')]);
  }
  return {};
}

function cleanParameter(value: unknown): object {
  const { name, in: place, required, description, schema } = asObject(value);
  return {
    name: String(name),
    in: place,
    required: required === true,
    description: asText(description),
    schema: cleanSchema(schema ?? true),
  };
}

function cleanBody(body: JsonObject): object {
  return { required: body['required'] === true, content: cleanContent(body) };
}

function cleanResponse(value: unknown): object {
  const response = asObject(value);
  const { $ref: reference } = response;
  if (typeof reference === 'string' && reference.startsWith('#/components/responses/')) {
    return { $ref: reference };
  }
  return {
    description: asText(response['description']) ?? '',
    ...(isObject(response['content']) && { content: cleanContent(response) }),
  };
}

/** Problems are the same in both of their media types. */
function cleanContent({ content, 'x-modgate-bytes': isBytes }: JsonObject): object {
  if (isBytes === true) return { '*/*': {} };
  const media = Object.entries(asObject(content)).filter(
    ([type]) => type !== 'application/problem+json',
  );
  return Object.fromEntries(
    media.map(([type, value]) => {
      const { schema } = asObject(value);
      return [type, schema === undefined ? {} : { schema: cleanSchema(schema) }];
    }),
  );
}

function mapObject(value: unknown, map: (member: unknown) => unknown): object {
  return Object.fromEntries(
    Object.entries(asObject(value)).map(([name, member]) => [name, map(member)]),
  );
}

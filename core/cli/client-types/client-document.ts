import { asList, asObject, asText, isObject, type JsonObject } from '../json-value.js';
import { METHODS } from '../openapi/read-document.js';
import { cleanSchema } from './clean-schema.js';

/** What `modgate client` writes types of. */
export interface ClientDocument {
  /** An OpenAPI document for openapi-typescript. */
  readonly document: JsonObject;
  /** The names of the modules. */
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
      paths[ownPath] = { ...paths[ownPath], [method]: cleanOperation(operation) };
    }
  }
  const { schemas, responses } = asObject(source['components']);
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

function cleanOperation(operation: JsonObject): object {
  const { operationId, summary, deprecated, parameters, requestBody, responses } = operation;
  return {
    // openapi-typescript replaces it, which may lead to equal names.
    operationId: String(operationId).replaceAll('#', '_'),
    summary: asText(summary),
    description: describeOperation(operation),
    deprecated: deprecated === true,
    parameters: asList(parameters).map(cleanParameter),
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

import { readMediaType } from '../../lib/media-type.js';
import { asList, asObject, asText, isObject, type JsonObject } from '../json-value.js';
import { followComponent, followPathItem, type OpenApiDocument } from './openapi-document.js';
import { REFERRED } from './referred-documents.js';

type Members = Record<string, unknown>;

/** The parts that have other places in OpenAPI 3, for references to schemas within them. */
const WRITTEN = 'x-modgate-swagger';

/** The place of each part of a Swagger document in OpenAPI 3. */
const PLACES = {
  definitions: 'components/schemas',
  parameters: `${WRITTEN}/parameters`,
  paths: `${WRITTEN}/paths`,
  responses: `${WRITTEN}/responses`,
} as const;

const KEPT = ['info', 'tags', 'externalDocs', 'security'] as const;
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;
/** Without a list, the type is not known. */
const ANY_TYPE = ['*/*'];
const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** Values within a schema that are not schemas. */
const VALUES: ReadonlySet<string> = new Set(['default', 'enum', 'example', 'x-example']);
/** Members whose keys are no keywords: names chosen by the author, or statuses such as `default`. */
const NAMED: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'definitions', 'parameters', 'responses', 'headers'],
]);

const LIST_STYLES: Readonly<Record<string, Members>> = {
  multi: { style: 'form', explode: true },
  ssv: { style: 'spaceDelimited', explode: false },
  pipes: { style: 'pipeDelimited', explode: false },
};
const PLAIN_LIST = { style: 'form', explode: false };

const FLOWS: Readonly<Record<string, string>> = {
  accessCode: 'authorizationCode',
  application: 'clientCredentials',
};

interface MediaTypes {
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
}

/**
 * Converts a Swagger 2.0 document to OpenAPI 3.0. Parts outside the specification are dropped. What
 * is referred to is converted in place, except schemas: the media types of a response are those of
 * the operation that refers to it.
 */
export function convertSwagger(root: JsonObject): JsonObject {
  const { paths, parameters, responses } = root;
  const document: OpenApiDocument = { version: '3.0', root, unread: new Map() };
  const types: MediaTypes = {
    consumes: listTexts(root['consumes']),
    produces: listTexts(root['produces']),
  };
  return {
    ...(REFERRED in root && { [REFERRED]: convertSchema(root[REFERRED]) }),
    [WRITTEN]: convertSchema({ paths, parameters, responses }),
    openapi: '3.0.3',
    ...Object.fromEntries(KEPT.filter((name) => name in root).map((name) => [name, root[name]])),
    servers: listServers(root),
    paths: mapValues(paths, (item) => convertItem(item, document, types)),
    components: {
      schemas: mapValues(root['definitions'], convertSchema),
      securitySchemes: mapValues(root['securityDefinitions'], convertSecurity),
    },
  };
}

/** Follows references to a part. A broken one stays, so that the import lists it. */
function findPart(document: OpenApiDocument, written: unknown): JsonObject {
  const { value, problem } = followComponent(document, written);
  return problem === null ? value : asObject(written);
}

function listServers({ schemes, host, basePath }: JsonObject): { readonly url: string }[] {
  const path = asText(basePath) ?? '';
  const name = asText(host);
  if (name === undefined) return path === '' ? [] : [{ url: path }];
  const [scheme = 'https'] = listTexts(schemes).toSorted((a, b) => (a < b ? 1 : -1));
  return [{ url: `${scheme}://${name}${path}` }];
}

function convertItem(written: unknown, document: OpenApiDocument, types: MediaTypes): JsonObject {
  const { value: item, problem } = followPathItem(document, written);
  const shared = asList(item['parameters']);
  const operations = METHODS.filter((method) => isObject(item[method])).map((method) => {
    return [method, convertOperation(item[method], shared, document, types)];
  });
  return {
    ...Object.fromEntries(operations),
    ...(problem !== null && convertReferences(written)),
  };
}

/** @param shared the parameters of the path, which those of the operation override */
function convertOperation(
  written: unknown,
  shared: readonly unknown[],
  document: OpenApiDocument,
  inherited: MediaTypes,
): JsonObject {
  const operation = findPart(document, written);
  if (isReference(operation)) return convertReferences(operation);
  const { parameters, consumes, produces, responses, schemes: _schemes, ...others } = operation;
  const types: MediaTypes = {
    consumes: consumes === undefined ? inherited.consumes : listTexts(consumes),
    produces: produces === undefined ? inherited.produces : listTexts(produces),
  };
  const byName = new Map<string, JsonObject>();
  for (const listed of [...shared, ...asList(parameters)]) {
    const parameter = findPart(document, listed);
    const { $ref: broken, in: place, name } = parameter;
    byName.set(String(broken ?? `${String(place)} ${String(name)}`), parameter);
  }
  const all = [...byName.values()];
  const body = all.findLast((parameter) => parameter['in'] === 'body');
  const fields = all.filter((parameter) => parameter['in'] === 'formData');
  const otherParameters = all.filter(
    (parameter) => !['body', 'formData'].includes(String(parameter['in'])),
  );
  return {
    ...others,
    parameters: otherParameters.map(convertParameter),
    requestBody: body ? convertBody(body, types) : convertForm(fields, types),
    responses: mapValues(findPart(document, responses), (response) =>
      convertResponse(findPart(document, response), types),
    ),
  };
}

function convertBody(
  { description, required, schema }: JsonObject,
  { consumes }: MediaTypes,
): JsonObject {
  const types = consumes.length > 0 ? consumes : ANY_TYPE;
  const content = { schema: convertSchema(schema ?? {}) };
  return {
    description,
    required,
    content: Object.fromEntries(types.map((type) => [type, content])),
  };
}

/** Returns `undefined` without fields. */
function convertForm(fields: readonly JsonObject[], { consumes }: MediaTypes) {
  if (fields.length === 0) return undefined;
  const formTypes = consumes.filter((type) => FORM_TYPES.includes(readMediaType(type) ?? ''));
  const hasFile = fields.some(({ type }) => type === 'file');
  const types =
    formTypes.length > 0 ? formTypes : FORM_TYPES.slice(hasFile ? 1 : 0, hasFile ? 2 : 1);
  const required = fields
    .filter((field) => field['required'] === true)
    .map((field) => field['name']);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field['name'], readSchema(field)])),
    ...(required.length === 0 ? {} : { required }),
  };
  return {
    required: required.length > 0,
    content: Object.fromEntries(types.map((type) => [type, { schema }])),
  };
}

function convertParameter(parameter: JsonObject): JsonObject {
  if (isReference(parameter)) return convertReferences(parameter);
  const { name, description, required, allowEmptyValue, ...others } = parameter;
  const { 'x-multi-segment': isMarked, 'x-modgate-rest': isRest, ...rules } = others;
  const isQueryList = rules['type'] === 'array' && rules['in'] === 'query';
  const style = LIST_STYLES[String(rules['collectionFormat'])] ?? PLAIN_LIST;
  return {
    ...{ name, in: rules['in'], description, required, allowEmptyValue },
    ...{ 'x-multi-segment': isMarked, 'x-modgate-rest': isRest },
    ...(isQueryList && style),
    schema: readSchema(rules),
  };
}

/** The rules of a parameter, a header or an item, which are beside its name. */
function readSchema(parameter: JsonObject): JsonObject {
  const {
    name: _name,
    in: _in,
    description: _description,
    required: _required,
    allowEmptyValue: _allowEmptyValue,
    collectionFormat: _collectionFormat,
    ...rules
  } = parameter;
  return asObject(convertSchema(rules));
}

function convertResponse(response: JsonObject, { produces }: MediaTypes): JsonObject {
  if (isReference(response)) return convertReferences(response);
  const { description, schema, headers, examples } = response;
  const exampleValues = asObject(examples);
  const listed = schema === undefined ? Object.keys(exampleValues) : produces;
  const types = listed.length > 0 || schema === undefined ? listed : ANY_TYPE;
  // Types may have parameters, or be unknown, but an example of JSON has its own type.
  const content = types.map((type) => {
    const example = exampleValues[type] ?? exampleValues['application/json'];
    return [type, { schema: convertSchema(schema), example }];
  });
  return {
    description: description ?? '',
    headers: mapValues(headers, (header) => ({ schema: readSchema(asObject(header)) })),
    ...(content.length > 0 && { content: Object.fromEntries(content) }),
  };
}

/** Converts at any depth: documents that are nested too deep were rejected before. */
function convertSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(convertSchema);
  if (!isObject(schema)) return schema;
  const converted: Members = {};
  for (const [name, value] of Object.entries(schema)) {
    if (VALUES.has(name)) converted[name] = value;
    else if (name === '$ref') converted[name] = moveReference(value);
    else if (name === 'discriminator' && typeof value === 'string') {
      converted[name] = { propertyName: value };
    } else if (name === 'x-nullable') converted['nullable'] = value;
    else if (name === 'collectionFormat') continue;
    else if (NAMED.has(name) && isObject(value)) converted[name] = mapValues(value, convertSchema);
    else converted[name] = convertSchema(value);
  }
  return converted['type'] === 'file'
    ? { ...converted, type: 'string', format: 'binary' }
    : converted;
}

function isReference(value: unknown): boolean {
  return typeof asObject(value)['$ref'] === 'string';
}

function convertReferences(value: unknown): JsonObject {
  return { $ref: moveReference(asObject(value)['$ref']) };
}

function moveReference(reference: unknown): unknown {
  const [, place, rest] = /^#\/([^/]+)(\/.+)$/s.exec(asText(reference) ?? '') ?? [];
  const moved = PLACES[place as keyof typeof PLACES];
  return moved === undefined ? reference : `#/${moved}${rest}`;
}

function convertSecurity(value: unknown): JsonObject {
  const { type, flow, authorizationUrl, tokenUrl, scopes, ...others } = asObject(value);
  if (type === 'basic') return { ...others, type: 'http', scheme: 'basic' };
  if (type !== 'oauth2') return { ...others, type };
  const urls = Object.entries({ authorizationUrl, tokenUrl }).filter(
    ([, url]) => url !== undefined,
  );
  const name = FLOWS[String(flow)] ?? String(flow);
  const flows = { [name]: { ...Object.fromEntries(urls), scopes: scopes ?? {} } };
  return { ...others, type, flows };
}

function mapValues(value: unknown, convert: (item: unknown) => unknown): JsonObject {
  return Object.fromEntries(
    Object.entries(asObject(value)).map(([name, item]) => [name, convert(item)]),
  );
}

function listTexts(value: unknown): readonly string[] {
  return asList(value).filter((item) => typeof item === 'string');
}

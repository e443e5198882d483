import type {
  JsonSchema,
  ParameterValue,
  RouteExample,
  RouteParameter,
} from '../contract/index.js';
import { listParameters, writeTemplate } from '../lib/routing/route-template.js';
import type { ByteRules } from '../manifest/byte-rules.js';
import type { StreamRules } from '../manifest/stream-rules.js';
import type { LiveRoute } from '../modules/live-module.js';
import { isSchemaObject } from '../schema/subschema-keywords.js';
import { embedPart, embedSchema, type ModuleSchemas } from './component-schemas.js';
import type { DescribedModule, DescribedRoute } from './described-module.js';
import { jsonText, writeExamples } from './json-text.js';
import type { OperationName } from './operation-names.js';
import type { PathParameter, PlacedRoute } from './path-items.js';
import { listShownParameters } from './shown-parameters.js';

const JSON_TYPE = 'application/json';

interface OperationContext {
  /** Whether the data of JSON responses is described in its envelope. */
  readonly hasEnvelope: boolean;
  readonly schemas: ModuleSchemas;
  /** The security requirements of a route, as JSON text. */
  readonly security: (route: Pick<LiveRoute, 'capability' | 'isPublic'>) => string;
}

/** The JSON text of an operation before and after the responses that a module's routes share. */
interface OperationText {
  readonly start: string;
  readonly end: string;
}

/**
 * Writes the Operation Object of a route as JSON text: a large host has thousands, most parts of
 * which are equal, and building objects first takes several times as long.
 */
export function writeOperation(
  module: DescribedModule,
  { route, parameters }: PlacedRoute,
  { operationId, component }: OperationName,
  { schemas: ofModule, security, hasEnvelope }: OperationContext,
): OperationText {
  const { declared } = route.value;
  const { summary, description, tags, deprecated } = declared;
  const schemas = (schema: DataSchema, part: string) =>
    schema == null ? '{}' : embedSchema(schema, `${component}.${part}`, ofModule);
  const all = [
    ...parameters.map((parameter) => writePathParameter(parameter, route, component, ofModule)),
    ...writeQuery(route, component, ofModule),
    ...writeHeaders(route),
    ...listShownParameters(module.descriptor, route.value).map((parameter) =>
      writeParameter(parameter, schemas),
    ),
  ];
  const body = writeBody(route, schemas);
  const members = [
    `"operationId":${jsonText(operationId)}`,
    `"tags":${jsonText(tags === undefined ? [module.name] : [...new Set([module.name, ...tags])])}`,
  ];
  if (summary !== undefined) members.push(`"summary":${jsonText(summary)}`);
  if (description !== undefined) members.push(`"description":${jsonText(description)}`);
  if (deprecated === true) members.push('"deprecated":true');
  if (all.length > 0) members.push(`"parameters":[${all.join(',')}]`);
  if (body !== null) members.push(`"requestBody":${body}`);
  members.push(`"responses":{${writeData(module, route, { hasEnvelope, writeSchema: schemas })}`);
  return { start: `{${members.join(',')}`, end: `},"security":${security(route.value)}}` };
}

function writePathParameter(
  { name, declaredName, isRest }: PathParameter,
  { value }: DescribedRoute,
  component: string,
  module: ModuleSchemas,
): string {
  const rest = isRest ? ',"x-modgate-rest":true' : '';
  const declared = declaredName === name ? '' : `,"x-modgate-name":${jsonText(declaredName)}`;
  const about = value.declared.operation?.path_params_schema ?? {};
  const properties = isSchemaObject(about['properties']) ? about['properties'] : {};
  const property = Object.hasOwn(properties, declaredName) ? properties[declaredName] : undefined;
  const schema =
    property === undefined
      ? '{"type":"string","minLength":1}'
      : embedPart(property, about, `${component}.path`, module);
  const text = writeDescription(property);
  return `{"name":${jsonText(name)},"in":"path"${text},"required":true,"schema":${schema}${rest}${declared}}`;
}

function writeQuery({ value }: DescribedRoute, component: string, module: ModuleSchemas): string[] {
  const schema = value.declared.operation?.query_schema;
  if (!schema) return [];
  const { properties, required } = schema;
  const needed = new Set(Array.isArray(required) ? (required as readonly string[]) : []);
  const declaredProperties = isSchemaObject(properties) ? properties : {};
  const names = new Set([...Object.keys(declaredProperties), ...needed]);
  return [...names].map((name) => {
    const property = declaredProperties[name] ?? { type: 'string' };
    const about = writeDescription(property);
    const mark = needed.has(name) ? ',"required":true' : '';
    const text = embedPart(property, schema, `${component}.query`, module);
    return `{"name":${jsonText(name)},"in":"query"${about}${mark},"schema":${text}}`;
  });
}

function writeDescription(property: unknown): string {
  const description = isSchemaObject(property) ? property['description'] : undefined;
  return typeof description === 'string' ? `,"description":${jsonText(description)}` : '';
}

const IDEMPOTENCY_KEY = jsonText({
  name: 'idempotency-key',
  in: 'header',
  description: 'Unique for each call, and the same when it is repeated.',
  required: true,
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
});

function writeHeaders({ value }: DescribedRoute): string[] {
  return value.declared.operation?.idempotency === 'requires_key' ? [IDEMPOTENCY_KEY] : [];
}

/** OpenAPI requires a schema or a content. */
function writeParameter(
  { schema, content, ...others }: RouteParameter,
  schemas: (schema: DataSchema, part: string) => string,
): string {
  const write = ({ schema: one, ...values }: ParameterValue) =>
    [...listMembers(values), `"schema":${schemas(one, 'parameter')}`].join(',');
  const media = Object.entries(content ?? {}).map(
    ([type, value]) => `${jsonText(type)}:{${write(value)}}`,
  );
  if (media.length === 0)
    return `{${write({ ...others, ...(schema !== undefined && { schema }) })}}`;
  return `{${listMembers(others).join(',')},"content":{${media.join(',')}}}`;
}

function listMembers(value: object): string[] {
  return Object.entries(value).map(([name, member]) => `${jsonText(name)}:${jsonText(member)}`);
}

function writeBody(
  { value }: DescribedRoute,
  schemas: (schema: DataSchema, part: string) => string,
): string | null {
  const { body, bodyBytes, declared } = value;
  if (body === 'none') return null;
  if (bodyBytes?.besideJson === false) {
    return `{${listTypes(bodyBytes)},"x-modgate-bytes":true}`;
  }
  const { input_schema: input, examples } = declared.operation ?? {};
  const exampleText = writeExamples(examples, ({ input: value }: RouteExample) => value);
  const required = body === 'required' ? '"required":true,' : '';
  const json = `${schemas(input, 'input')}${exampleText}`;
  return `{${required}${content(json, bodyBytes?.types ?? [])}}`;
}

const CACHE_HEADERS = `"headers":${jsonText({
  'cache-status': {
    description: 'What the cache of the host did (RFC 9211): hit, or fwd with the reason.',
    schema: { type: 'string' },
  },
  age: {
    description: 'How old a response is that was kept. Seconds.',
    schema: { type: 'integer', minimum: 0 },
  },
})},`;

/** Bytes have no schema (OpenAPI 3.1, 4.8.14.4). */
function listTypes({ types }: Pick<ByteRules, 'types'>): string {
  const members = (types ?? ['*/*']).map((type) => `${jsonText(type)}:{}`);
  return `"content":{${members.join(',')}}`;
}

type DataSchema = JsonSchema | null | undefined;

interface DataForm extends Pick<OperationContext, 'hasEnvelope'> {
  /** Embeds the schema of a part of the route. */
  readonly writeSchema: (schema: DataSchema, part: string) => string;
}

/**
 * Writes the responses with the data of the provider, as members in JSON text: 200 in envelope mode,
 * any status in raw mode.
 */
function writeData(
  module: DescribedModule,
  route: DescribedRoute,
  { hasEnvelope, writeSchema }: DataForm,
): string {
  const { responseBytes, stream, isWebSocket } = route.value;
  if (isWebSocket) return WEB_SOCKET;
  if (stream !== null && !stream.isOptional) return writeStream(module, stream);
  if (responseBytes?.besideJson === false) return writeBytes(module, responseBytes);
  const { output_schema: output, examples } = route.value.declared.operation ?? {};
  const data = writeSchema(output, 'output');
  const headers = route.value.cache === null ? '' : CACHE_HEADERS;
  const exampleText = writeExamples(examples, (example) =>
    hasEnvelope ? showEnvelope(module, route, example) : example.output,
  );
  const upgrade = stream === null && responseBytes === null ? '' : `,"426":${UPGRADE}`;
  if (module.descriptor.responses.mode === 'raw') {
    const types = content(`${data}${exampleText}`, stream?.types ?? responseBytes?.types ?? []);
    const response = `{"description":"The provider's response",${headers}${types}}`;
    return `"200":${response},"304":{"description":"Not modified"},"2XX":${response},"default":${ANY}${upgrade}`;
  }
  const schema = hasEnvelope ? writeEnvelope(module, route, data) : data;
  const others = stream === null ? (responseBytes?.types ?? []) : [stream.mediaType];
  const types = content(`${schema}${exampleText}`, others);
  const bytes = responseBytes === null ? '' : `,${writeByteStatuses(responseBytes)}`;
  return `"200":{"description":"The provider's data",${headers}${types}}${bytes}${upgrade}`;
}

/** Adds the responses of byte routes: a range, and those for HTTP/1.0 and an invalid range. */
function writeBytes({ descriptor }: DescribedModule, rules: ByteRules): string {
  const response = describeBytes(rules);
  if (descriptor.responses.mode === 'raw') {
    const others = `"304":{"description":"Not modified"},"default":${ANY_BYTES}`;
    return `"200":${response},${others},"2XX":${response},"426":${UPGRADE}`;
  }
  return `"200":${response},${writeByteStatuses(rules)},"426":${UPGRADE}`;
}

/** Other statuses of bytes in envelope mode. */
function writeByteStatuses(rules: ByteRules): string {
  return `"2XX":${describeBytes(rules)},"416":${RANGE}`;
}

function describeBytes(rules: ByteRules): string {
  return `{"description":"The provider's bytes",${listTypes(rules)},"x-modgate-bytes":true}`;
}

/** In raw mode the provider decides, so JSON is also possible. */
function writeStream({ descriptor }: DescribedModule, rules: StreamRules): string {
  const mark = `"x-modgate-stream":"${rules.form}"`;
  const write = (types: readonly string[]) =>
    `{"description":"A stream of events",${listTypes({ types })},${mark}}`;
  if (descriptor.responses.mode === 'raw') {
    const response = write([...new Set([...rules.types, JSON_TYPE])]);
    const others = `"304":{"description":"Not modified"},"default":${ANY_BYTES}`;
    return `"200":${response},${others},"2XX":${response},"426":${UPGRADE}`;
  }
  return `"200":${write([rules.mediaType])},"406":${NOT_ACCEPTABLE},"426":${UPGRADE}`;
}

const ANY_BYTES = '{"description":"The provider\'s own response","content":{"*/*":{}}}';
const UPGRADE = writeProblem('UpgradeRequiredProblem');
const WEB_SOCKET = `"101":{"description":"A WebSocket","x-modgate-stream":"websocket"},"426":${UPGRADE}`;
const NOT_ACCEPTABLE = writeProblem('NotAcceptableProblem');
const RANGE = writeProblem('ProviderErrorProblem');

function writeProblem(name: string): string {
  const schema = `{"$ref":"#/components/schemas/${name}"}`;
  const media = `"application/json":{"schema":${schema}},"application/problem+json":{"schema":${schema}}`;
  return `{"description":"A Problem","content":{${media}}}`;
}

/** @param otherTypes the media types of bytes, or of a stream, that may come instead of JSON */
function content(schema: string, otherTypes: readonly string[] = []): string {
  const others = otherTypes
    .filter((type) => type !== JSON_TYPE)
    .map((type) => `,${jsonText(type)}:{}`);
  return `"content":{"application/json":{"schema":${schema}}${others.join('')}}`;
}

const ANY = `{"description":"The provider's own response",${content('{}')}}`;

const ENVELOPE_HEAD = jsonText({
  type: 'object',
  required: [
    ...['status', 'module_name', 'method', 'declared_path'],
    ...['provider_path', 'capability', 'path_params', 'data'],
  ],
}).slice(0, -1);

/** @param data the schema of the data, as JSON text */
function writeEnvelope(
  { name }: DescribedModule,
  { value, template }: DescribedRoute,
  data: string,
): string {
  const names = listParameters(template).map((parameter) => parameter.name);
  const { method, declaredPath, capability } = value;
  const properties = [
    '"status":{"const":"forwarded"}',
    `"module_name":{"const":${jsonText(name)}}`,
    `"method":{"const":"${method}"}`,
    `"declared_path":{"const":${jsonText(declaredPath)}}`,
    '"provider_path":{"type":"string"}',
    `"capability":{"const":${jsonText(capability)}}`,
    `"path_params":${writeParams(names)}`,
    `"data":${data}`,
  ];
  return `${ENVELOPE_HEAD},"properties":{${properties.join(',')}},"additionalProperties":false}`;
}

function writeParams(names: readonly string[]): string {
  if (names.length === 0) return '{"type":"object","additionalProperties":false}';
  const properties = names.map((name) => `${jsonText(name)}:{"type":"string"}`).join(',');
  return `{"type":"object","required":${jsonText(names)},"properties":{${properties}},"additionalProperties":false}`;
}

/** Uses the name of each parameter as its value. */
function showEnvelope(
  { name }: DescribedModule,
  { value, template }: DescribedRoute,
  { output: data }: RouteExample,
): unknown {
  if (data === undefined) return undefined;
  const params = listParameters(template).map((parameter) => [parameter.name, parameter.name]);
  const providerPath = writeTemplate(
    template,
    (text) => text,
    (parameter) => parameter.name,
  );
  return {
    status: 'forwarded',
    module_name: name,
    method: value.method,
    declared_path: value.declaredPath,
    provider_path: providerPath || '/',
    capability: value.capability,
    path_params: Object.fromEntries(params),
    data,
  };
}

import type { RouteExample } from '../contract/index.js';
import { isSchemaObject } from '../schema/subschema-keywords.js';
import { type Components, embedPart, embedSchema } from './component-schemas.js';
import { type DataSchema, writeData } from './data-responses.js';
import type { DescribedModule, DescribedRoute } from './described-module.js';
import { jsonText, writeExamples } from './json-text.js';
import type { OperationName } from './operation-names.js';
import type { PathParameter, PlacedRoute } from './path-items.js';

/** What the operations of one module share. */
interface OperationContext {
  readonly components: Components;
  /** The security requirements of a route with this capability, as JSON text. */
  readonly security: (capability: string | null) => string;
}

/** JSON text before and after the responses that the routes of a module share, which are the last members of theirs. */
interface OperationText {
  readonly start: string;
  readonly end: string;
}

/**
 * The Operation Object of a route. It is put together as JSON text, since a large host has thousands and most of
 * each is the same: building objects first takes several times as long.
 */
export function writeOperation(
  module: DescribedModule,
  { route, parameters }: PlacedRoute,
  { operationId, component }: OperationName,
  { components, security }: OperationContext,
): OperationText {
  const { declared, capability } = route.value;
  const { summary, description, tags, deprecated } = declared;
  const schemas = (schema: DataSchema, part: string) =>
    schema == null ? '{}' : embedSchema(schema, `${component}.${part}`, components);
  const all = [
    ...parameters.map(writePathParameter),
    ...writeQuery(route, component, components),
    ...writeHeaders(route),
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
  members.push(`"responses":{${writeData(module, route, schemas)}`);
  return { start: `{${members.join(',')}`, end: `},"security":${security(capability)}}` };
}

function writePathParameter({ name, declaredName, isRest }: PathParameter): string {
  const rest = isRest ? ',"x-modgate-rest":true' : '';
  const declared = declaredName === name ? '' : `,"x-modgate-name":${jsonText(declaredName)}`;
  const schema = '{"type":"string","minLength":1}';
  return `{"name":${jsonText(name)},"in":"path","required":true,"schema":${schema}${rest}${declared}}`;
}

function writeQuery(
  { value }: DescribedRoute,
  component: string,
  components: Components,
): string[] {
  const schema = value.declared.operation?.query_schema;
  if (!schema) return [];
  const { properties, required } = schema;
  const needed = new Set(Array.isArray(required) ? (required as readonly string[]) : []);
  const known = isSchemaObject(properties) ? properties : {};
  const names = new Set([...Object.keys(known), ...needed]);
  return [...names].map((name) => {
    const property = known[name] ?? { type: 'string' };
    const description = isSchemaObject(property) ? property['description'] : undefined;
    const about = typeof description === 'string' ? `,"description":${jsonText(description)}` : '';
    const mark = needed.has(name) ? ',"required":true' : '';
    const text = embedPart(property, schema, `${component}.query`, components);
    return `{"name":${jsonText(name)},"in":"query"${about}${mark},"schema":${text}}`;
  });
}

/** A call without the key is never repeated. */
const IDEMPOTENCY_KEY = jsonText({
  name: 'idempotency-key',
  in: 'header',
  description: 'With this key the host may repeat a call that did not reach the provider.',
  schema: { type: 'string' },
});

function writeHeaders({ value }: DescribedRoute): string[] {
  return value.declared.operation?.idempotency === 'requires_key' ? [IDEMPOTENCY_KEY] : [];
}

function writeBody(
  { value }: DescribedRoute,
  schemas: (schema: DataSchema, part: string) => string,
): string | null {
  const { body, declared } = value;
  if (body === 'none') return null;
  const { input_schema: input, examples } = declared.operation ?? {};
  const shown = writeExamples(examples, ({ input: value }: RouteExample) => value);
  const required = body === 'required' ? '"required":true,' : '';
  return `{${required}"content":{"application/json":{"schema":${schemas(input, 'input')}${shown}}}}`;
}

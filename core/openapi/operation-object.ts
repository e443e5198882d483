import type { RouteExample } from '../contract/index.js';
import { isSchemaObject } from '../schema/subschema-keywords.js';
import { type Components, embedPart, embedSchema } from './component-schemas.js';
import type { DescribedModule, DescribedRoute } from './described-module.js';
import type { OperationName } from './operation-names.js';
import type { PathParameter, PlacedRoute } from './path-items.js';

/** What the operations of one document share. */
interface OperationContext {
  readonly components: Components;
  /** The responses of the module other than those with its data: members as JSON text. */
  readonly problems: string;
  /** The names of the security schemes. */
  readonly schemes: readonly string[];
}

/** The Operation Object of a route, as JSON text: a large host has many, and most of each is the same. */
export function createOperation(
  module: DescribedModule,
  { route, parameters }: PlacedRoute,
  { operationId, component }: OperationName,
  { components, problems, schemes }: OperationContext,
): string {
  const { declared, capability } = route.value;
  const { summary, description, tags = [], deprecated } = declared;
  const all = [
    ...parameters.map(describePathParameter),
    ...describeQuery(route, component, components),
    ...describeHeaders(route),
  ];
  const body = describeBody(route, component, components);
  const roles = capability === null ? [] : [capability];
  const head = JSON.stringify({
    operationId,
    tags: [...new Set([module.name, ...tags])],
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(deprecated === true && { deprecated }),
    ...(all.length > 0 && { parameters: all }),
    ...(body !== null && { requestBody: body }),
  });
  const data = JSON.stringify(describeData(module, route, component, components));
  const responses = `${data.slice(0, -1)},${problems}}`;
  const security = JSON.stringify(schemes.map((scheme) => ({ [scheme]: roles })));
  return `${head.slice(0, -1)},"responses":${responses},"security":${security}}`;
}

function describePathParameter({ name, declaredName, isRest }: PathParameter) {
  return {
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
    ...(isRest && { 'x-modgate-rest': true }),
    ...(declaredName !== name && { 'x-modgate-name': declaredName }),
  };
}

function describeQuery({ value }: DescribedRoute, component: string, components: Components) {
  const schema = value.declared.operation?.query_schema;
  if (!schema) return [];
  const { properties, required } = schema;
  const needed = new Set(Array.isArray(required) ? (required as readonly string[]) : []);
  const known = isSchemaObject(properties) ? properties : {};
  const names = new Set([...Object.keys(known), ...needed]);
  return [...names].map((name) => {
    const property = known[name] ?? { type: 'string' };
    const description = isSchemaObject(property) ? property['description'] : undefined;
    return {
      name,
      in: 'query',
      ...(typeof description === 'string' && { description }),
      ...(needed.has(name) && { required: true }),
      schema: embedPart(property, schema, `${component}.query`, components),
    };
  });
}

/** A call without the key is never repeated. */
function describeHeaders({ value }: DescribedRoute) {
  if (value.idempotency !== 'requires_key') return [];
  const description = 'With this key the host may repeat a call that did not reach the provider.';
  return [{ name: 'idempotency-key', in: 'header', description, schema: { type: 'string' } }];
}

function describeBody({ value }: DescribedRoute, component: string, components: Components) {
  const { body, declared } = value;
  if (body === 'none') return null;
  const { input_schema: input, examples = [] } = declared.operation ?? {};
  const schema = input == null ? {} : embedSchema(input, `${component}.input`, components);
  const shown = namedExamples(examples, 'input', (one) => one);
  return {
    ...(body === 'required' && { required: true }),
    content: { 'application/json': { schema, ...shown } },
  };
}

/** The responses with the data of the provider: 200 in the envelope, any status in raw mode. */
function describeData(
  module: DescribedModule,
  route: DescribedRoute,
  component: string,
  components: Components,
): Record<string, unknown> {
  const { output_schema: output, examples = [] } = route.value.declared.operation ?? {};
  const data = output == null ? {} : embedSchema(output, `${component}.output`, components);
  if (module.descriptor.responses.mode === 'raw') {
    const content = (schema: unknown) => ({
      'application/json': { schema, ...namedExamples(examples, 'output', (one) => one) },
    });
    return {
      200: { description: "The provider's response", content: content(data) },
      304: { description: 'Not modified' },
      '2XX': { description: "The provider's response", content: content(data) },
      default: { description: "The provider's own response", content: anyContent },
    };
  }
  const envelope = (value: unknown) => ({ ...exampleEnvelope(module, route), data: value });
  const schema = describeEnvelope(module, route, data);
  const content = { schema, ...namedExamples(examples, 'output', envelope) };
  return { 200: { description: "The provider's data", content: { 'application/json': content } } };
}

const anyContent = { 'application/json': { schema: {} } };

function describeEnvelope(
  { name }: DescribedModule,
  { value, template }: DescribedRoute,
  data: unknown,
) {
  const names = template.segments.flatMap((one) => (one.kind === 'literal' ? [] : [one.name]));
  return {
    type: 'object',
    required: [
      ...['status', 'module_name', 'method', 'declared_path'],
      ...['provider_path', 'capability', 'path_params', 'data'],
    ],
    properties: {
      status: { const: 'forwarded' },
      module_name: { const: name },
      method: { const: value.method },
      declared_path: { const: value.declaredPath },
      provider_path: { type: 'string' },
      capability: { const: value.capability },
      path_params: {
        type: 'object',
        ...(names.length > 0 && {
          required: names,
          properties: Object.fromEntries(names.map((one) => [one, { type: 'string' }])),
        }),
        additionalProperties: false,
      },
      data,
    },
    additionalProperties: false,
  };
}

/** With the name of each parameter as its value. */
function exampleEnvelope({ name }: DescribedModule, { value, template }: DescribedRoute) {
  const segments = template.segments.map((one) => (one.kind === 'literal' ? one.text : one.name));
  const params = template.segments.flatMap((one) =>
    one.kind === 'literal' ? [] : [[one.name, one.name] as const],
  );
  return {
    status: 'forwarded',
    module_name: name,
    method: value.method,
    declared_path: value.declaredPath,
    provider_path: `/${segments.join('/')}`,
    capability: value.capability,
    path_params: Object.fromEntries(params),
  };
}

function namedExamples(
  examples: readonly RouteExample[],
  key: 'input' | 'output',
  show: (value: unknown) => unknown,
) {
  const shown = examples.filter((example) => example[key] !== undefined);
  if (shown.length === 0) return {};
  const entries = shown.map((example) => [example.name, { value: show(example[key]) }]);
  return { examples: Object.fromEntries(entries) };
}

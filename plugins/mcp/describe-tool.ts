import {
  type ActionInputField,
  escapeInvisible,
  escapeLine,
  type FieldType,
  type OperationArgument,
  type RouteOperation,
  type RouteParameter,
  type SchemaObject,
} from '../../core/contract/index.js';
import { isExactObject } from './exact-schema.js';
import { shorten } from './shorten.js';
import { type SharedSchemas, ToolSchema } from './tool-schema.js';
import { findParameter, type ToolSource, wordsOf } from './tool-source.js';

export interface DescribedTool {
  readonly name: string;
  readonly title?: string;
  /** Absent for a tool of the provider that has none: some models reject an empty one. */
  readonly description?: string;
  readonly inputSchema: { readonly type: 'object'; readonly [member: string]: unknown };
  readonly outputSchema?: { readonly type: 'object'; readonly [member: string]: unknown };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

const MAX_DESCRIPTION = 1000;
/** Authors of tools write more than those of routes. */
const MAX_OWN_DESCRIPTION = 10_000;
const MAX_TITLE = 200;
/** The maximum length of a wire name in a description. */
const MAX_NAME = 200;
const GAP = '\n\n';

/** A tool without its name, which depends on other modules. */
export interface KeptTool {
  readonly tool: Omit<DescribedTool, 'name'>;
  /** The length of the JSON of its texts and schemas. */
  readonly bytes: number;
}

export function describeTool(source: ToolSource, shared: SharedSchemas): KeptTool {
  const { isTool } = source.operation;
  const texts = isTool
    ? readOwnTexts(source)
    : { description: describeTarget(source, MAX_DESCRIPTION) };
  const input = isTool ? createOwnInput(source, shared) : createInputSchema(source, shared);
  const output = isTool ? createOwnOutput(source, shared) : createOutputSchema(source, shared);
  return {
    tool: {
      ...texts,
      inputSchema: input.schema,
      ...(output !== null && { outputSchema: output.schema }),
      annotations: annotate(source),
    },
    bytes: Buffer.byteLength(JSON.stringify(texts)) + input.bytes + (output?.bytes ?? 0),
  };
}

/** The texts of a tool of the provider, without a word of the host. */
function readOwnTexts({ operation, target }: ToolSource) {
  const { summary, description } = wordsOf(target);
  const words = operation.tool?.description ?? description;
  return {
    ...(summary !== undefined && { title: escapeInvisible(shorten(summary, MAX_TITLE)) }),
    ...(words && { description: escapeInvisible(shorten(words, MAX_OWN_DESCRIPTION)) }),
  };
}

function schemasOf({ target }: ToolSource): Pick<RouteOperation, 'input_schema' | 'output_schema'> {
  return (target.kind === 'route' && target.route.operation) || {};
}

/** The arguments of a tool of the provider are the body of its route. */
function createOwnInput(source: ToolSource, shared: SharedSchemas) {
  const schema = new ToolSchema(shared);
  return schema.complete(Object(schema.embed(schemasOf(source).input_schema ?? {}, '#')), {});
}

/** The schema of the structure in the result, if the host enforces it; otherwise `null`. */
function createOwnOutput(source: ToolSource, shared: SharedSchemas) {
  const properties: unknown = Reflect.get(Object(schemasOf(source).output_schema), 'properties');
  const declared: unknown = Reflect.get(Object(properties), 'structuredContent');
  const isSchema = typeof declared === 'object' && declared !== null;
  if (!source.operation.enforcesOutput || !isSchema || hasOwnReference(declared)) return null;
  const schema = new ToolSchema(shared);
  return schema.complete(Object(schema.embed(declared as SchemaObject, '#')), {});
}

/** Whether it refers to a part of the schema of the whole, which would lead elsewhere from here. */
function hasOwnReference(schema: object): boolean {
  return JSON.stringify(schema).includes('"$ref":"#');
}

/** The texts of the module, shortened, before the host's own sentence about the call. */
export function describeTarget(
  { module, operation, target }: ToolSource,
  maxLength: number,
): string {
  const { summary, description } = wordsOf(target);
  const declared = [summary, description].filter((text) => text !== undefined).join(GAP);
  const words = operation.tool?.description ?? declared;
  const kind = target.kind === 'route' ? '' : `${target.kind} `;
  const title = shorten(`${kind}${escapeLine(operation.name)} of module ${module}`, maxLength / 2);
  const approval = operation.needsApproval ? ' Waits for the approval of a person.' : '';
  const sentence = `(${title}.${approval})`;
  if (words === '') return sentence;
  const visible = escapeInvisible(shorten(words, maxLength));
  return `${shorten(visible, maxLength - GAP.length - sentence.length)}${GAP}${sentence}`;
}

function annotate(source: ToolSource) {
  const { operation, target } = source;
  const { reads } = operation;
  return {
    readOnlyHint: reads,
    destructiveHint: !reads && operation.dangerLevel !== 'low',
    idempotentHint:
      reads || (target.kind === 'route' && target.route.operation?.idempotency === 'idempotent'),
    openWorldHint: false,
  };
}

function createInputSchema(source: ToolSource, shared: SharedSchemas) {
  const declared = source.operation.arguments;
  const schema = new ToolSchema(shared);
  const properties = declared.map((argument) => [
    argument.name,
    describeArgument(argument, source, schema),
  ]);
  const required = declared.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const head = { type: 'object', ...(required.length > 0 && { required }) } as const;
  const short = declared.map((argument) => [argument.name, withWireName({}, argument)]);
  const inputSchema = {
    ...head,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
  const bounded = { ...inputSchema, properties: Object.fromEntries(short) };
  return schema.complete(inputSchema, bounded);
}

/** Gives the name of an argument in the request if that is another one. */
function withWireName(described: unknown, { name, place, wireName }: OperationArgument): unknown {
  if (name === wireName) return described;
  const sentence = `Sent in the ${place} as \`${escapeLine(shorten(wireName, MAX_NAME))}\`.`;
  const words: unknown = Reflect.get(Object(described), 'description');
  const description = typeof words === 'string' ? `${words} ${sentence}` : sentence;
  return { ...Object(described), description };
}

const LIMIT = { type: 'integer', minimum: 1, maximum: 200, description: 'Rows of a page.' };
const CURSOR = { type: 'string', description: 'next_cursor of the previous page.' };

function describeArgument(
  argument: OperationArgument,
  { target }: ToolSource,
  schema: ToolSchema,
): unknown {
  const { name, place, wireName, isRest, isText } = argument;
  if (place === 'limit') return LIMIT;
  if (place === 'cursor') return CURSOR;
  if (place === 'path') {
    const rest = isRest === true ? { description: 'A path of one or more segments.' } : {};
    const text = { type: 'string', minLength: 1, ...rest };
    const pathSchema = target.kind === 'route' ? target.route.operation?.path_params_schema : null;
    return withWireName(describePath(wireName, pathSchema ?? {}, schema) ?? text, argument);
  }
  if (target.kind === 'action') return describeInput(target.action.input_schema?.fields);
  if (target.kind === 'entity') return {};
  const { input_schema, query_schema } = target.route.operation ?? {};
  if (isText === true) return { type: 'string', description: 'The text to send.' };
  if (place === 'body') return schema.embed(input_schema ?? {}, `#/properties/${name}`);
  const parameter = findParameter(target.route, wireName);
  const described =
    parameter === undefined
      ? describeQuery(wireName, query_schema ?? {}, schema)
      : schema.embed(describeParameter(parameter), `#/properties/${name}`);
  return withWireName(described, argument);
}

function describeParameter({ schema, content, description }: RouteParameter): SchemaObject {
  const [media] = Object.values(content ?? {});
  const own: unknown = schema ?? media?.schema;
  return { ...Object(own), ...(description !== undefined && { description }) };
}

/** Returns `null` for a parameter without a schema, or with references that only the whole resolves. */
function describePath(name: string, pathSchema: SchemaObject, schema: ToolSchema): unknown {
  const property = new Map(Object.entries(Object(pathSchema['properties']))).get(name);
  const isAlone = property !== undefined && !JSON.stringify(property).includes('"#');
  return isAlone ? schema.embedPart(property, pathSchema) : null;
}

function describeQuery(name: string, querySchema: SchemaObject, schema: ToolSchema): unknown {
  const properties = new Map(Object.entries(Object(querySchema['properties'])));
  return schema.embedPart(properties.get(name) ?? { type: 'string' }, querySchema);
}

const FIELD_TYPES: Readonly<Record<FieldType, object>> = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
  json: {},
};

function describeInput(fields: readonly ActionInputField[] | undefined): object {
  if (fields === undefined) return {};
  const required = fields.filter((field) => field.required === true).map(({ name }) => name);
  const properties = fields.map(({ name, type, label, nullable }) => [
    escapeLine(name),
    {
      ...(nullable === true ? { anyOf: [FIELD_TYPES[type], { type: 'null' }] } : FIELD_TYPES[type]),
      ...(label !== undefined && { description: shorten(escapeLine(label), MAX_DESCRIPTION) }),
    },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/**
 * Clients reject a result that violates the schema, although the call was made. So a schema is
 * listed only if every response satisfies it. The protocol has schemas of objects alone.
 */
function createOutputSchema({ target, operation, manifest }: ToolSource, shared: SharedSchemas) {
  const declared = target.kind === 'route' ? target.route.operation?.output_schema : null;
  if (declared == null || !operation.enforcesOutput) return null;
  if (!isExactObject(declared, manifest.schemas ?? {})) return null;
  const schema = new ToolSchema(shared);
  return schema.complete(schema.embed(declared, '#') as Record<string, unknown>, {});
}

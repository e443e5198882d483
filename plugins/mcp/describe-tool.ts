import type {
  ActionInputField,
  FieldType,
  ManifestRoute,
  SchemaObject,
} from '../../core/contract/index.js';
import type { CatalogEntry } from './catalog.js';
import {
  bodyRuleOf,
  ENTITY_PARAMETERS,
  listActionParameters,
  listRouteParameters,
  readProperties,
  type ToolParameter,
} from './tool-parameters.js';
import { ToolSchema } from './tool-schema.js';
import { toVisible } from './visible-text.js';

/** A tool in `tools/list`. */
export interface DescribedTool {
  readonly name: string;
  readonly description: string;
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

/** The arguments of a tool. */
export function listToolParameters({ target }: CatalogEntry): readonly ToolParameter[] {
  if (target.kind === 'entity') return ENTITY_PARAMETERS;
  return target.kind === 'action'
    ? listActionParameters(target.action)
    : listRouteParameters(target.route);
}

export function describeTool(entry: CatalogEntry): DescribedTool {
  const output = createOutputSchema(entry);
  return {
    name: entry.name,
    description: toVisible(describeTarget(entry), MAX_DESCRIPTION),
    inputSchema: createInputSchema(entry),
    ...(output !== null && { outputSchema: output }),
    annotations: annotate(entry),
  };
}

/** The texts of the module, after the host's own description of the call. */
export function describeTarget({ module, operation, target, manifest }: CatalogEntry): string {
  const declared = wordsOf(target);
  const moduleTexts = [declared.summary, declared.description].filter((text) => text !== undefined);
  const title = target.kind === 'route' ? operation.name : `${target.kind} ${operation.name}`;
  const approval = operation.needsApproval ? ' Waits for the approval of a person.' : '';
  const words = moduleTexts.length > 0 ? moduleTexts.join('\n\n') : (manifest.summary ?? '');
  return `${words === '' ? '' : `${words}\n\n`}(${title} of module ${module}.${approval})`;
}

function wordsOf(target: CatalogEntry['target']): {
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
} {
  if (target.kind === 'route') return target.route;
  const { label, description } = target.kind === 'entity' ? target.entity : target.action;
  return { summary: label, description };
}

function annotate({ operation: { dangerLevel }, target }: CatalogEntry) {
  const isRead =
    target.kind === 'entity' || (target.kind === 'route' && target.route.method === 'GET');
  return {
    readOnlyHint: isRead,
    destructiveHint: !isRead && dangerLevel !== 'low',
    idempotentHint:
      isRead || (target.kind === 'route' && target.route.operation?.idempotency === 'idempotent'),
    openWorldHint: false,
  };
}

function createInputSchema(entry: CatalogEntry): DescribedTool['inputSchema'] {
  const parameters = listToolParameters(entry);
  const schema = new ToolSchema(entry.manifest);
  const properties = parameters.map((parameter) => [
    parameter.argument,
    describeParameter(parameter, entry, schema),
  ]);
  const required = parameters
    .filter(({ isRequired }) => isRequired)
    .map(({ argument }) => argument);
  const head = { type: 'object', ...(required.length > 0 && { required }) } as const;
  const short = Object.fromEntries(parameters.map(({ argument }) => [argument, {}]));
  const inputSchema = {
    ...head,
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
  const bounded = { ...head, properties: short, additionalProperties: false };
  return { ...schema.complete(inputSchema, bounded), type: 'object' };
}

const LIMIT = { type: 'integer', minimum: 1, maximum: 200, description: 'Rows of a page.' };
const CURSOR = { type: 'string', description: 'next_cursor of the previous page.' };

function describeParameter(
  { argument, place, name, isRest }: ToolParameter,
  { target }: CatalogEntry,
  schema: ToolSchema,
): unknown {
  if (place === 'limit') return LIMIT;
  if (place === 'cursor') return CURSOR;
  if (place === 'path') {
    const rest = isRest === true ? { description: 'A path of one or more segments.' } : {};
    return { type: 'string', minLength: 1, ...rest };
  }
  if (target.kind === 'action') return describeInput(target.action.input_schema?.fields);
  if (target.kind === 'entity') return {};
  if (place === 'body') return describeBody(target.route, schema, `#/properties/${argument}`);
  const querySchema: SchemaObject = target.route.operation?.query_schema ?? {};
  return schema.embedPart(
    readProperties(querySchema)[name] ?? { type: 'string' },
    querySchema,
    argument,
  );
}

function describeBody(route: ManifestRoute, schema: ToolSchema, path: string): unknown {
  if (bodyRuleOf(route) === 'bytes') return { type: 'string', description: 'The text to send.' };
  return schema.embed(route.operation?.input_schema ?? {}, path);
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
    name,
    {
      ...(nullable === true ? { anyOf: [FIELD_TYPES[type], { type: 'null' }] } : FIELD_TYPES[type]),
      ...(label !== undefined && { description: toVisible(label, MAX_DESCRIPTION) }),
    },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

const PAGE = {
  type: 'object',
  required: ['records'],
  properties: {
    records: { type: 'array' },
    next_cursor: { type: ['string', 'null'] },
  },
} as const;

/** Returns a schema for objects only: the protocol has no others. */
function createOutputSchema({ target, manifest, operation }: CatalogEntry) {
  if (target.kind === 'entity') return PAGE;
  if (target.kind === 'action' || operation.response === 'bytes') return null;
  const declared = target.route.operation?.output_schema ?? null;
  if (typeof declared !== 'object' || declared === null || declared['type'] !== 'object')
    return null;
  const schema = new ToolSchema(manifest);
  const embedded = schema.embed(declared, '#') as Record<string, unknown>;
  const outputSchema = schema.complete(embedded, { type: 'object' });
  return { ...outputSchema, type: 'object' } as const;
}

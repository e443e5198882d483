import {
  any,
  array,
  boolean,
  define,
  dynamic,
  enums,
  literal,
  nullable,
  object,
} from 'superstruct';
import { type AnyStruct, described, named, optionally } from '../contract/described.js';
import { type Method, MODULE_HTTP_METHODS, type SchemaObject } from '../contract/index.js';
import { capability, moduleName } from '../descriptor/identifiers.js';
import { nonEmptyText, wholeNumber } from '../document/structs.js';
import { admin } from './admin-struct.js';
import { config } from './config-struct.js';
import { contribution, slot } from './console-struct.js';
import { text } from './parts-struct.js';

/** One hour: a route can only shorten the timeout of its module. */
const MAX_ROUTE_TIMEOUT_MS = 3_600_000;

const noHead = define<Method>(
  `one of ${MODULE_HTTP_METHODS.join(', ')}: HEAD is served by the GET route`,
  () => false,
);

const method = described(
  dynamic<Method>((value): AnyStruct => {
    return value === 'HEAD' ? noHead : enums(MODULE_HTTP_METHODS);
  }),
  { enum: MODULE_HTTP_METHODS, description: 'HEAD is served by the GET route.' },
);

/** Its shape only: `schema-rules.ts` has the rules of what is inside. */
const jsonSchema = described(
  nullable(
    define<SchemaObject | boolean>(
      'a JSON Schema (a mapping) or null',
      (value) => typeof value === 'boolean' || isMapping(value),
    ),
  ),
  { type: ['object', 'boolean', 'null'] },
);

const querySchema = described(
  nullable(define<SchemaObject>('a JSON Schema of an object (a mapping) or null', isMapping)),
  { type: ['object', 'null'] },
);

const example = named(
  'example',
  described(
    object({
      name: described(nonEmptyText(), { description: 'Unique among the examples of the route.' }),
      input: optionally(any(), { description: 'A request body.' }),
      output: optionally(any(), { description: 'A response body of the provider.' }),
    }),
    { description: 'A call of the route, for readers.' },
  ),
);

const operation = object({
  operation_id: optionally(nonEmptyText(), { description: 'Name of the operation.' }),
  timeout_ms: optionally(wholeNumber(1, MAX_ROUTE_TIMEOUT_MS), {
    description: "Can only shorten the module's timeout. Milliseconds.",
  }),
  idempotency: optionally(enums(['idempotent', 'requires_key', 'none']), {
    default: 'none',
    description: 'Whether a call may be repeated.',
  }),
  body: optionally(enums(['required', 'optional', 'none']), {
    description:
      'Whether a call has a body. Default: required for POST, PUT and PATCH, none for DELETE. A GET has none.',
  }),
  input_schema: optionally(jsonSchema, { description: 'JSON Schema of the request body.' }),
  output_schema: optionally(jsonSchema, { description: 'JSON Schema of the response body.' }),
  query_schema: optionally(querySchema, {
    description:
      'JSON Schema of an object whose properties are the query parameters; arrays are repeated parameters.',
  }),
  examples: optionally(array(example), { default: [], description: 'Calls of the route.' }),
});

const route = named(
  'route',
  described(
    object({
      method,
      path: described(nonEmptyText(), {
        description: 'A template: /contacts/{id}; the last segment may be {name...}.',
      }),
      capability: optionally(capability, {
        description: 'What an actor needs; a route without one answers 403 to everybody.',
      }),
      summary: text('One line for people.'),
      description: text('What the route does, in CommonMark.'),
      tags: optionally(array(nonEmptyText()), {
        default: [],
        description: 'Groups of the route in the OpenAPI document.',
      }),
      deprecated: optionally(boolean(), {
        default: false,
        description: 'Whether clients should stop calling it.',
      }),
      operation: optionally(operation, { description: 'How the route is called.' }),
    }),
    { description: 'A route that clients may call.' },
  ),
);

function isMapping(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The manifest in the words of the file. */
export const manifestStruct = described(
  object({
    protocol: described(literal('modgate.manifest.v1'), {
      description: 'Version of this format.',
    }),
    module_id: described(moduleName, {
      description: "The author's name of the module; the descriptor may use another one.",
    }),
    version: text("The author's version of the module."),
    summary: text('One line for people.'),
    capabilities: described(array(capability), {
      description:
        'Every capability that a route, entity or action names, and the permissions of the console.',
    }),
    http_routes: described(array(route), {
      description: 'Routes that clients may call; may be empty. Their order has no meaning.',
    }),
    admin: optionally(admin, { description: 'Data and actions for a console.' }),
    config: optionally(config, { description: 'Configuration that operators set.' }),
    console_slots: optionally(array(slot), {
      default: [],
      description: 'Places where other modules may contribute.',
    }),
    console_contributions: optionally(array(contribution), {
      default: [],
      description: 'What the module adds to slots.',
    }),
  }),
  {
    title: 'modgate manifest',
    description:
      'What the author of a module declares: routes, capabilities, admin data, actions, configuration, contributions to the console.',
  },
);

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
  record,
  refine,
} from 'superstruct';
import { type AnyStruct, described, matching, named, optionally } from '../contract/described.js';
import {
  EVENT_FORMS,
  type Method,
  MODULE_HTTP_METHODS,
  type SchemaObject,
  STREAM_FORMS,
} from '../contract/index.js';
import { wholeNumber } from '../contract/whole-number.js';
import { capability, moduleName } from '../descriptor/identifiers.js';
import { nonEmptyText } from '../document/structs.js';
import { MEDIA_TYPE_RANGE } from '../lib/media-type.js';
import { isMapping } from '../lib/read-member.js';
import { SHARED_NAME } from '../schema/shared-schemas.js';
import { config } from './config-struct.js';
import { admin, contribution, slot } from './console-struct.js';
import { parameters } from './parameter-struct.js';
import { anySchema, dangerLevel, text } from './parts-struct.js';
import { STREAM_TYPES } from './stream-rules.js';

/** One week: the bound detects a wrong unit. */
const MAX_CACHE_MS = 604_800_000;

/** One hour, because a route can only shorten the timeout of its module. */
const MAX_ROUTE_TIMEOUT_MS = 3_600_000;

const noHead = define<Method>(
  `one of ${MODULE_HTTP_METHODS.join(', ')}: HEAD is served by the GET route`,
  () => false,
);

const otherMethod = enums(MODULE_HTTP_METHODS);
const method = described(
  dynamic<Method>((value): AnyStruct => (value === 'HEAD' ? noHead : otherMethod)),
  { enum: MODULE_HTTP_METHODS, description: 'HEAD is served by the GET route.' },
);

/** Validates only the shape: `schema-rules.ts` has the rules for the content. */
const jsonSchema = described(
  nullable(
    define<SchemaObject | boolean>(
      'a JSON Schema (a mapping) or null',
      (value) => typeof value === 'boolean' || isMapping(value),
    ),
  ),
  { type: ['object', 'boolean', 'null'] },
);

const sharedName = matching('named by 1 to 128 of the characters A-Z a-z 0-9 . _ -', SHARED_NAME);

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

const mediaTypes = described(
  refine(
    array(matching('a media type such as image/png, image/* or */*', MEDIA_TYPE_RANGE)),
    'a list of at least one media type',
    (types) => types.length > 0,
  ),
  { minItems: 1 },
);

const cache = object({
  ttl_ms: described(wholeNumber(1, MAX_CACHE_MS), {
    description:
      'How long a response is fresh; headers of the provider can shorten it. Milliseconds.',
  }),
  stale_ms: optionally(wholeNumber(0, MAX_CACHE_MS), {
    default: 0,
    description: 'How long after that it is given while a new one is fetched. Milliseconds.',
  }),
  shared: optionally(boolean(), {
    default: false,
    description:
      'Whether the response does not depend on the caller, so that all callers share what is kept.',
  }),
});

const operationMembers = {
  operation_id: optionally(nonEmptyText(), { description: 'Name of the operation.' }),
  timeout_ms: optionally(wholeNumber(1, MAX_ROUTE_TIMEOUT_MS), {
    description: "Can only shorten the module's timeout. Milliseconds.",
  }),
  idempotency: optionally(enums(['idempotent', 'requires_key', 'none']), {
    default: 'none',
    description: 'Whether a call may be repeated.',
  }),
  reads: optionally(boolean(), {
    description:
      'Whether calls change nothing, such as those of a POST that searches. Agents may then call it like a GET. Default: true for GET, otherwise false.',
  }),
  body: optionally(enums(['required', 'optional', 'none', 'bytes']), {
    description:
      'Whether a call has a body of JSON; bytes: any media type, as a stream. Default: required for POST, PUT and PATCH, none for GET and DELETE. That of a GET can only be optional, and is ignored otherwise.',
  }),
  response: optionally(enums(['bytes']), {
    description:
      'bytes: a response of any media type, as a stream and without the envelope. Default: JSON.',
  }),
  body_types: optionally(mediaTypes, {
    description:
      'Media types of a body of bytes. Default: all. Beside a body of JSON: those that pass as bytes; none of JSON, and not */*.',
  }),
  response_types: optionally(mediaTypes, {
    description:
      'Media types of a response of bytes. Default: all. Beside a response of JSON: those that pass as bytes; none of JSON, and not */*.',
  }),
  body_max_bytes: optionally(wholeNumber(1), {
    description: 'Longest body of bytes; can only lower limits.bytes.request. Bytes.',
  }),
  response_max_bytes: optionally(wholeNumber(1), {
    description: 'Longest response of bytes; can only lower limits.bytes.response. Bytes.',
  }),
  stream: optionally(enums(STREAM_FORMS), {
    description:
      'The response is a stream of events: Server-Sent Events, or lines of JSON. Or the route, a GET, is a WebSocket. Default: none.',
  }),
  stream_types: optionally(mediaTypes, {
    description: `Media types of the provider that count as this stream; no ranges, and none that browsers show as a page. Default: ${describeDefaults()}.`,
  }),
  stream_optional: optionally(boolean(), {
    default: false,
    description:
      'Whether the provider may answer with JSON instead of the stream. output_schema is that of the JSON.',
  }),
  danger_level: optionally(dangerLevel, {
    description:
      'How much harm a call can do. Default: low for GET and reads, medium for other POST, PUT and PATCH, high for other DELETE.',
  }),
  cache: optionally(cache, {
    description: 'How long responses of a GET are kept for later calls. Default: not at all.',
  }),
  encoded: optionally(array(nonEmptyText()), {
    default: [],
    description:
      'Parameters of the path whose values may hold %2F, %3F, %23 or %25, which are forwarded as they came.',
  }),
  input_schema: optionally(jsonSchema, { description: 'JSON Schema of the request body.' }),
  output_schema: optionally(jsonSchema, { description: 'JSON Schema of the response body.' }),
  query_schema: optionally(querySchema, {
    description:
      'JSON Schema of an object whose properties are the query parameters; arrays are repeated parameters.',
  }),
  path_params_schema: optionally(querySchema, {
    description:
      'JSON Schema of an object whose properties are the parameters of the path; a rest parameter is one text.',
  }),
  parameters: optionally(parameters, {
    default: [],
    description:
      'OpenAPI parameters that query_schema cannot express, in document, clients and tools; not checked. At most 64 KiB.',
  }),
  examples: optionally(array(example), { default: [], description: 'Calls of the route.' }),
};

/** The members of an operation that mean the same for every kind of provider. */
export const OPERATION_MEMBERS: ReadonlySet<string> = new Set(Object.keys(operationMembers));

/** In its JSON Schema, adapters that are not part of the host have mappings. */
const operation = described(object(operationMembers), { additionalProperties: { type: 'object' } });

const route = named(
  'route',
  described(
    object({
      method,
      path: described(nonEmptyText(), {
        description:
          'A template: /contacts/{id}, /reports/{id}.json, /users/; the last segment may be {name...}.',
      }),
      capability: optionally(capability, {
        description: 'What an actor needs; a route without one answers 403 to every actor.',
      }),
      access: optionally(enums(['public']), {
        description:
          'public needs no credentials where the descriptor says `public: true`; elsewhere the capability counts.',
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
      operation: optionally(operation, {
        description:
          'How the route is called. A member with the name of a kind is for providers of that kind.',
      }),
    }),
    { description: 'A route that clients may call.' },
  ),
);

function describeDefaults(): string {
  return EVENT_FORMS.map((form) => `${STREAM_TYPES[form].join(', ')} (${form})`).join('; ');
}

/** The manifest with wire names. */
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
        'Every capability that a route, entity, action or the configuration names, and the permissions of the console.',
    }),
    http_routes: described(array(route), {
      description: 'Routes that clients may call; may be empty. Their order has no meaning.',
    }),
    schemas: optionally(record(sharedName, anySchema), {
      type: 'object',
      propertyNames: { pattern: SHARED_NAME.source },
      additionalProperties: { type: ['object', 'boolean'] },
      default: {},
      description:
        'Schemas by name. Those of routes, and these themselves, refer to one with `$ref: manifest:schemas/Name`.',
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

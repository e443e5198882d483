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
  optional,
  string,
} from 'superstruct';
import { type Manifest, type Method, MODULE_HTTP_METHODS } from '../contract/index.js';
import { capability, moduleName } from '../descriptor/identifiers.js';
import type { AnyStruct } from '../document/struct-walk.js';
import { anyWholeNumber, finiteNumber, nonEmptyText, wholeNumber } from '../document/structs.js';

/** Visible ASCII but for what a URL parser rewrites or reads as the end of the path. */
const PLAIN_PATH = /^\/(?:[!$&'()*+,\-.0-9:;=@A-Z[\]_a-z~/]|%[0-9A-Fa-f]{2})*$/;
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:;[^/]*)?(?=\/|$)/i;

/**
 * A path that the host calls as it stands: no query, no fragment, no dot segments, nothing that a URL
 * parser would rewrite, and no `//`, at which one would read a host name.
 */
export const plainPath = define<string>(
  'a plain absolute path, such as /admin/contacts',
  (value) =>
    typeof value === 'string' &&
    PLAIN_PATH.test(value) &&
    !value.includes('//') &&
    !DOT_SEGMENT.test(value),
);

/** One hour: a route only ever shortens the time-out of its module. */
const MAX_ROUTE_TIMEOUT_MS = 3_600_000;
/** Of a secret made at random; 1 KiB is beyond any key in use. */
const MAX_GENERATED_BYTES = 1024;

const noHead = define<Method>(
  `one of ${MODULE_HTTP_METHODS.join(', ')}: HEAD is served by the GET route`,
  () => false,
);

const method = dynamic<Method>((value): AnyStruct => {
  return value === 'HEAD' ? noHead : enums(MODULE_HTTP_METHODS);
});

const fieldType = enums(['string', 'integer', 'number', 'boolean', 'timestamp', 'json']);

/** Any mapping: what a JSON Schema says is judged by whoever uses it. */
const jsonSchema = define<Record<string, unknown>>(
  'a JSON Schema (a mapping) or null',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

const route = object({
  method,
  path: nonEmptyText(),
  capability: optional(capability),
  summary: optional(string()),
  operation: optional(
    object({
      operation_id: optional(nonEmptyText()),
      timeout_ms: optional(wholeNumber(1, MAX_ROUTE_TIMEOUT_MS)),
      idempotency: optional(enums(['idempotent', 'requires_key', 'none'])),
      input_schema: optional(nullable(jsonSchema)),
      output_schema: optional(nullable(jsonSchema)),
    }),
  ),
});

const entity = object({
  name: nonEmptyText(),
  label: optional(string()),
  read_capability: capability,
  list_path: optional(plainPath),
  fields: optional(
    array(
      object({
        name: nonEmptyText(),
        label: optional(string()),
        type: fieldType,
        nullable: optional(boolean()),
      }),
    ),
  ),
});

const actionInputField = object({
  name: nonEmptyText(),
  label: optional(string()),
  type: fieldType,
  required: optional(boolean()),
  nullable: optional(boolean()),
});

const action = object({
  name: nonEmptyText(),
  label: optional(string()),
  capability,
  invoke_path: optional(plainPath),
  danger_level: optional(enums(['low', 'medium', 'high'])),
  confirmation: optional(
    object({ message: nonEmptyText(), required_phrase: optional(nonEmptyText()) }),
  ),
  input_schema: optional(object({ fields: array(actionInputField) })),
});

const CONFIG_KINDS = ['bool', 'int', 'float', 'string', 'enum', 'json'] as const;

const CONFIG_TYPES: Readonly<Record<(typeof CONFIG_KINDS)[number], AnyStruct>> = {
  bool: object({ kind: literal('bool') }),
  int: object({
    kind: literal('int'),
    min: optional(anyWholeNumber()),
    max: optional(anyWholeNumber()),
  }),
  float: object({
    kind: literal('float'),
    min: optional(finiteNumber()),
    max: optional(finiteNumber()),
  }),
  string: object({ kind: literal('string') }),
  enum: object({ kind: literal('enum'), values: array(string()) }),
  json: object({ kind: literal('json') }),
};

type ConfigType = NonNullable<NonNullable<Manifest['config']>['fields']>[number]['type'];

/** A dynamic struct, since a union could not say which key of the type is wrong. */
const configType = dynamic<ConfigType>((value): AnyStruct => {
  const kind = CONFIG_KINDS.find((one) => (value as { kind?: unknown } | null)?.kind === one);
  return kind === undefined ? unknownConfigType : CONFIG_TYPES[kind];
});

const unknownConfigType = object({
  kind: enums(CONFIG_KINDS),
  min: optional(any()),
  max: optional(any()),
  values: optional(any()),
});

const configField = object({
  service: nonEmptyText(),
  key: nonEmptyText(),
  type: configType,
  default: optional(any()),
  editable: optional(boolean()),
  restart_only: optional(boolean()),
  sensitive: optional(boolean()),
  description: optional(string()),
  generated: optional(object({ bytes: wholeNumber(1, MAX_GENERATED_BYTES) })),
});

const version = wholeNumber(0);

const slot = object({ id: nonEmptyText(), version, label: optional(string()) });

const contribution = object({
  target: nonEmptyText(),
  target_version: optional(version),
  label: string(),
  icon: optional(string()),
  required_capabilities: optional(array(capability)),
  action: object({
    kind: literal('admin_action'),
    module: moduleName,
    name: nonEmptyText(),
    input_bindings: optional(
      array(
        object({
          input: nonEmptyText(),
          value: object({ kind: literal('slot_context'), path: nonEmptyText() }),
        }),
      ),
    ),
  }),
});

/** The manifest as it stands in files and on the wire (contract 5). */
export const manifestStruct = object({
  protocol: literal('modgate.manifest.v1'),
  module_id: moduleName,
  version: optional(string()),
  summary: optional(string()),
  capabilities: array(capability),
  http_routes: array(route),
  admin: optional(object({ entities: optional(array(entity)), actions: optional(array(action)) })),
  config: optional(
    object({ fields: optional(array(configField)), delivery_path: optional(plainPath) }),
  ),
  console_slots: optional(array(slot)),
  console_contributions: optional(array(contribution)),
});

import {
  array,
  coerce,
  define,
  dynamic,
  enums,
  type Infer,
  literal,
  object,
  omit,
  record,
  refine,
  type Struct,
  size,
  string,
} from 'superstruct';
import { described, named, optionally, when } from '../../core/contract/described.js';
import { BALANCING_STRATEGIES, fileReference } from '../../core/contract/index.js';
import { auth, tls } from '../http/credentials-config.js';
import { type AnyStruct, endpointWeight, type WeightedEndpoint } from '../http/endpoint-config.js';
import { headerName } from '../http/header-name.js';
import { health } from '../shared/health-config.js';
import { oneMember } from '../shared/keywords.js';

/** The maximum number of replicas; a larger number requires a load balancer. */
const MAX_ENDPOINTS = 64;

const ENDPOINT = /^grpcs?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5}$/;

const endpointUrl = described(
  define<string>(
    'grpc:// or grpcs:// with a host and a port, without credentials',
    (value) => typeof value === 'string' && ENDPOINT.test(value) && URL.canParse(value),
  ),
  {
    type: 'string',
    pattern: ENDPOINT.source,
    description: 'grpc or grpcs with host and port, without credentials.',
  },
);

const weighted = object({ url: endpointUrl, weight: endpointWeight });

/** A URL, or one with a weight. Dynamic, because a union cannot report which key is wrong. */
const endpoint = described(
  dynamic<string | WeightedEndpoint>(
    (value): AnyStruct => (typeof value === 'object' && value !== null ? weighted : endpointUrl),
  ),
  when({ type: 'object' }, weighted, endpointUrl),
);

/** An endpoint with its share of the calls. */
export function readEndpoint(entry: string | WeightedEndpoint): WeightedEndpoint {
  return typeof entry === 'string' ? { url: entry, weight: 1 } : entry;
}

const descriptors = described(
  refine(
    object({
      file: optionally(fileReference(), {
        description: 'A FileDescriptorSet with all imports, such as protoc writes it.',
      }),
      reflection: optionally(literal(true), {
        const: true,
        description: 'Asks the server by grpc.reflection, version v1 or v1alpha.',
      }),
    }),
    'exactly one of file and reflection',
    ({ file, reflection }) => (file === undefined) !== (reflection === undefined),
  ),
  { ...oneMember('Where the messages and methods are described: exactly one.') },
);

const SERVICE = /^(?:[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)?$/;

const healthWithService = described(
  object({
    service: optionally(
      define<string>(
        'name of a service, or an empty text for the whole server',
        (value) => typeof value === 'string' && SERVICE.test(value),
      ),
      {
        type: 'string',
        pattern: SERVICE.source,
        description:
          'Asks grpc.health.v1 for this service, empty for the server. Default: only a connection.',
      },
    ),
    ...omit(health, ['path']).schema,
  }),
  { description: 'Active checks of each endpoint; none without it.' },
);

const members = object({
  endpoints: described(
    refine(
      size(array(endpoint), 1, MAX_ENDPOINTS),
      'a list of endpoints that differ',
      (list) => new Set(list.map((entry) => readEndpoint(entry).url)).size === list.length,
    ),
    { minItems: 1, maxItems: MAX_ENDPOINTS, description: 'Replicas of the provider.' },
  ),
  descriptors,
  strategy: optionally(enums(BALANCING_STRATEGIES), {
    default: BALANCING_STRATEGIES[0],
    description: 'How the host selects an endpoint.',
  }),
  hash_header: optionally(headerName, {
    description: 'Request header whose value selects the endpoint; only for consistent_hash.',
  }),
  auth: optionally(auth, {}),
  tls: optionally(tls, {}),
  health: optionally(healthWithService, {}),
});

/** `provider.config` of kind `grpc`. */
export const grpcConfig = described(
  refine(
    refine(
      members,
      'a mapping with hash_header for strategy consistent_hash, and for no other',
      (value) => (value.strategy === 'consistent_hash') === (value.hash_header !== undefined),
    ),
    'a mapping with tls only if all endpoints are grpcs',
    ({ tls: given, endpoints }) =>
      given === undefined || endpoints.every((entry) => isTls(readEndpoint(entry).url)),
  ),
  {},
);

/** Whether connections to an endpoint use TLS. */
export function isTls(endpoint: string): boolean {
  return endpoint.startsWith('grpcs:');
}

export type GrpcConfig = Infer<typeof grpcConfig>;

const METHOD = /^(?:[A-Za-z_][A-Za-z0-9_]*\.)*[A-Za-z_][A-Za-z0-9_]*\/[A-Za-z_][A-Za-z0-9_]*$/;
const FIELD = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FIELD_PATH = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const BODY = /^(?:\*|[A-Za-z_][A-Za-z0-9_]*)?$/;

const method = named(
  'grpcMethod',
  described(matching('package.Service/Method', METHOD), { pattern: METHOD.source }),
);

const wholeOperation = object({
  method: described(method, { description: 'The method: package.Service/Method.' }),
  body: optionally(matching("name of a field, '*' or an empty text", BODY), {
    pattern: BODY.source,
    description:
      "The field that the body becomes; '*' for the whole message, empty for none. Default: '*' for POST, PUT and PATCH.",
  }),
  response_body: optionally(matching('name of a field', FIELD), {
    pattern: FIELD.source,
    description: 'The field that is returned. Default: the whole message.',
  }),
  bind: optionally(record(string(), string()), {
    additionalProperties: { type: 'string' },
    description:
      'Path parameters whose names are not those of fields: {id: book.id}, or {name: "shelves/{shelf}"} for a field that several parameters compose.',
  }),
});

/** `operation.grpc` of a route. A text is its `method`. */
export const grpcOperation = described(
  coerce(wholeOperation, string(), (text) => ({ method: text })),
  {
    ...when({ type: 'string' }, method, wholeOperation),
    description: 'The method that the route calls; a text is its name.',
  },
);

export type GrpcOperation = Infer<typeof wholeOperation>;

/** Whether a value of `bind` names a field instead of composing its value. */
export function isFieldPath(text: string): boolean {
  return FIELD_PATH.test(text);
}

function matching(expected: string, pattern: RegExp): Struct<string, null> {
  return described(
    define<string>(expected, (value) => typeof value === 'string' && pattern.test(value)),
    { type: 'string' },
  );
}

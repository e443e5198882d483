import { coerce, type Infer, literal, object, record, refine, string } from 'superstruct';
import {
  described,
  fileReference,
  matching,
  named,
  optionally,
  when,
} from '../../core/contract/index.js';
import { defineTransport } from '../shared/transport.js';

export const grpcTransport = defineTransport({ scheme: 'grpc' });

const { members, checked } = grpcTransport;

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
  {
    minProperties: 1,
    maxProperties: 1,
    description: 'Where the messages and methods are described: exactly one.',
  },
);

const SERVICE = /^(?:[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)?$/;

const healthWithService = described(
  object({
    service: optionally(
      matching('name of a service, or an empty text for the whole server', SERVICE),
      {
        description:
          'Asks grpc.health.v1 for this service, empty for the server. Default: only a connection.',
      },
    ),
    ...members.health.schema,
  }),
  { description: 'Active checks of each endpoint; none without it.' },
);

/** `provider.config` of kind `grpc`. */
export const grpcConfig = checked(
  object({
    endpoints: members.endpoints,
    descriptors,
    resolver: members.resolver,
    strategy: members.strategy,
    hash_header: members.hash_header,
    auth: members.auth,
    tls: members.tls,
    health: optionally(healthWithService, {}),
  }),
);

export type GrpcConfig = Infer<typeof grpcConfig>;

const METHOD = /^(?:[A-Za-z_][A-Za-z0-9_]*\.)*[A-Za-z_][A-Za-z0-9_]*\/[A-Za-z_][A-Za-z0-9_]*$/;
const FIELD = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FIELD_PATH = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const BODY = /^(?:\*|[A-Za-z_][A-Za-z0-9_]*)?$/;

const method = named('grpcMethod', matching('package.Service/Method', METHOD));

const wholeOperation = object({
  method: described(method, { description: 'The method: package.Service/Method.' }),
  body: optionally(matching("name of a field, '*' or an empty text", BODY), {
    description:
      "The field that the body becomes; '*' for the whole message, empty for none. Default: '*' for POST, PUT and PATCH.",
  }),
  response_body: optionally(matching('name of a field', FIELD), {
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

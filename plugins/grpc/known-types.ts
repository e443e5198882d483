import { create, createFileRegistry, type DescMessage, type Registry } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import { toJsonName } from './schema.js';

/** Fields as in a `.proto` file: `repeated string field = 1`; a leading dot names a message. */
type Messages = Readonly<Record<string, readonly string[]>>;

const SCALARS: Readonly<Record<string, Type>> = {
  string: Type.STRING,
  bytes: Type.BYTES,
  bool: Type.BOOL,
  int32: Type.INT32,
  int64: Type.INT64,
};

const FIELD = /^(repeated )?(\S+) (\w+) = (\d+)$/;

/**
 * The messages that gRPC itself uses, copied from the `.proto` files of googleapis and grpc-proto. A oneof is not
 * needed to read or write them.
 */
const KNOWN: readonly [name: string, packageName: string, messages: Messages][] = [
  [
    'google/rpc/status.proto',
    'google.rpc',
    {
      Status: ['int32 code = 1', 'string message = 2', 'repeated .google.protobuf.Any details = 3'],
    },
  ],
  [
    'google/rpc/error_details.proto',
    'google.rpc',
    {
      ErrorInfo: ['string reason = 1', 'string domain = 2'],
      RetryInfo: ['.google.protobuf.Duration retry_delay = 1'],
      DebugInfo: ['repeated string stack_entries = 1', 'string detail = 2'],
      QuotaFailure: ['repeated .google.rpc.QuotaFailure.Violation violations = 1'],
      'QuotaFailure.Violation': ['string subject = 1', 'string description = 2'],
      PreconditionFailure: ['repeated .google.rpc.PreconditionFailure.Violation violations = 1'],
      'PreconditionFailure.Violation': [
        'string type = 1',
        'string subject = 2',
        'string description = 3',
      ],
      BadRequest: ['repeated .google.rpc.BadRequest.FieldViolation field_violations = 1'],
      'BadRequest.FieldViolation': ['string field = 1', 'string description = 2'],
      RequestInfo: ['string request_id = 1', 'string serving_data = 2'],
      ResourceInfo: [
        'string resource_type = 1',
        'string resource_name = 2',
        'string owner = 3',
        'string description = 4',
      ],
      LocalizedMessage: ['string locale = 1', 'string message = 2'],
    },
  ],
  [
    'google/api/http.proto',
    'google.api',
    {
      HttpRule: [
        'string selector = 1',
        'string get = 2',
        'string put = 3',
        'string post = 4',
        'string delete = 5',
        'string patch = 6',
        'string body = 7',
        '.google.api.CustomHttpPattern custom = 8',
        'repeated .google.api.HttpRule additional_bindings = 11',
        'string response_body = 12',
      ],
      CustomHttpPattern: ['string kind = 1', 'string path = 2'],
    },
  ],
  [
    'grpc/health/v1/health.proto',
    'grpc.health.v1',
    { HealthCheckRequest: ['string service = 1'], HealthCheckResponse: ['int32 status = 1'] },
  ],
  // Version v1alpha differs in the name of the service only.
  [
    'grpc/reflection/v1/reflection.proto',
    'grpc.reflection.v1',
    {
      ServerReflectionRequest: [
        'string file_by_filename = 3',
        'string file_containing_symbol = 4',
        'string list_services = 7',
      ],
      ServerReflectionResponse: [
        '.grpc.reflection.v1.FileDescriptorResponse file_descriptor_response = 4',
        '.grpc.reflection.v1.ListServiceResponse list_services_response = 6',
        '.grpc.reflection.v1.ErrorResponse error_response = 7',
      ],
      FileDescriptorResponse: ['repeated bytes file_descriptor_proto = 1'],
      ListServiceResponse: ['repeated .grpc.reflection.v1.ServiceResponse service = 1'],
      ServiceResponse: ['string name = 1'],
      ErrorResponse: ['int32 error_code = 1', 'string error_message = 2'],
    },
  ],
];

/** The registry of the messages that gRPC itself uses. */
export const KNOWN_TYPES: Registry = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      file_google_protobuf_descriptor.proto,
      file_google_protobuf_any.proto,
      file_google_protobuf_duration.proto,
      ...KNOWN.map(([name, packageName, messages]) => createFile(name, packageName, messages)),
    ],
  }),
);

/** @throws TypeError for a name that is not known. */
export function knownMessage(typeName: string): DescMessage {
  const message = KNOWN_TYPES.getMessage(typeName);
  if (message === undefined) throw new TypeError(`no message ${typeName}`);
  return message;
}

function createFile(name: string, packageName: string, messages: Messages): FileDescriptorProto {
  const byName = new Map<string, DescriptorProto>();
  const messageType: DescriptorProto[] = [];
  for (const [path, fields] of Object.entries(messages)) {
    const [outer = '', inner] = path.split('.');
    const message = create(DescriptorProtoSchema, {
      name: inner ?? outer,
      field: fields.map(createField),
    });
    byName.set(path, message);
    if (inner === undefined) messageType.push(message);
    else byName.get(outer)?.nestedType.push(message);
  }
  return create(FileDescriptorProtoSchema, {
    name,
    package: packageName,
    syntax: 'proto3',
    dependency: ['google/protobuf/any.proto', 'google/protobuf/duration.proto'],
    messageType,
  });
}

function createField(text: string): FieldDescriptorProto {
  const [, repeated, type = '', name = '', number] = FIELD.exec(text) ?? [];
  const scalar = SCALARS[type];
  return create(FieldDescriptorProtoSchema, {
    name,
    jsonName: toJsonName(name),
    number: Number(number),
    label: repeated === undefined ? Label.OPTIONAL : Label.REPEATED,
    type: scalar ?? Type.MESSAGE,
    ...(scalar === undefined && { typeName: type }),
  });
}

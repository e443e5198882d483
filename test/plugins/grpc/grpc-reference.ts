import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import {
  type handleUnaryCall,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js';
import type { Invocation, ManifestRoute } from '../../../core/contract/index.js';
import {
  REFERENCE_MANIFEST,
  type ReferenceAnswer,
  type ReferenceModule,
  type RunningReference,
} from '../../../core/testkit/index.js';
import { grpcAdapter } from '../../../plugins/grpc/grpc-adapter.js';
import { startFaultProxy } from '../../support/fault-proxy.js';

const PACKAGE = 'modgate.reference.v1';
/** The parameters of queries that the clauses send one by one. */
const QUERY = ['marker', 'again', 'call'] as const;
const SERVICE = `${PACKAGE}.Reference`;

/** The codes of the statuses that gRPC has. */
const CODES: Readonly<Record<number, number>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  404: status.NOT_FOUND,
  409: status.ALREADY_EXISTS,
  429: status.RESOURCE_EXHAUSTED,
};

/** `GET /status/{code}` is the method `GetStatus`. */
function nameMethod({ method, path }: Pick<ManifestRoute, 'method' | 'path'>): string {
  const [, name = ''] = path.split('/');
  const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();
  return capital(method) + capital(name);
}

/** A service with a method for each route, whose messages have the parts of a request. */
function describeService() {
  const field = (name: string, number: number, typeName?: string) => ({
    name,
    number,
    label: Label.OPTIONAL,
    type: typeName === undefined ? Type.STRING : Type.MESSAGE,
    ...(typeName !== undefined && { typeName }),
  });
  const body = create(FileDescriptorProtoSchema, {
    name: 'google/api/httpbody.proto',
    package: 'google.api',
    syntax: 'proto3',
    messageType: [
      {
        name: 'HttpBody',
        field: [
          { ...field('content_type', 1), jsonName: 'contentType' },
          { ...field('data', 2), type: Type.BYTES, jsonName: 'data' },
        ],
      },
    ],
  });
  const file = create(FileDescriptorProtoSchema, {
    name: 'reference.proto',
    package: PACKAGE,
    syntax: 'proto3',
    dependency: [body.name],
    messageType: [
      {
        name: 'Call',
        field: [
          { ...field('argument', 1), jsonName: 'argument' },
          ...QUERY.map((name, index) => ({ ...field(name, index + 4), jsonName: name })),
          { ...field('body', 3, '.google.api.HttpBody'), jsonName: 'body' },
        ],
      },
    ],
    service: [
      {
        name: 'Reference',
        method: REFERENCE_MANIFEST.http_routes.map((route) => ({
          name: nameMethod(route),
          inputType: `.${PACKAGE}.Call`,
          outputType: '.google.api.HttpBody',
        })),
      },
    ],
  });
  return create(FileDescriptorSetSchema, { file: [body, file] });
}

/** Serves the reference module with grpc-js, which the adapter reaches through a proxy. */
export async function startGrpcReference(reference: ReferenceModule): Promise<RunningReference> {
  const set = describeService();
  const registry = createFileRegistry(set);
  const call = registry.getMessage(`${PACKAGE}.Call`) as DescMessage;
  const body = registry.getMessage('google.api.HttpBody') as DescMessage;
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  const definitions: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const handlers: Record<string, handleUnaryCall<Buffer, Buffer>> = {};
  const pass = (bytes: Buffer) => bytes;
  for (const route of REFERENCE_MANIFEST.http_routes) {
    const name = nameMethod(route);
    definitions[name] = {
      path: `/${SERVICE}/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: pass,
      requestDeserialize: pass,
      responseSerialize: pass,
      responseDeserialize: pass,
    };
    handlers[name] = async ({ request, metadata }, callback) => {
      const json = toJson(call, fromBinary(call, request)) as Sent;
      const headers = Object.fromEntries(
        Object.entries(metadata.getMap()).map(([key, value]) => [key, String(value)]),
      );
      const answer = await reference.answer({
        method: route.method,
        target: toTarget(route, json),
        headers: { ...headers, 'content-type': json.body?.contentType ?? '' },
        body: json.body?.data === undefined ? null : Buffer.from(json.body.data, 'base64'),
      });
      respond(answer, callback, (message) =>
        Buffer.from(toBinary(body, fromJson(body, message as never))),
      );
    };
  }
  server.addService(definitions, handlers);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const proxy = await startFaultProxy(port);
  return {
    config: {
      endpoints: [`grpc://127.0.0.1:${proxy.port}`],
      descriptors: { file: 'reference.binpb' },
    },
    files: { 'reference.binpb': toBinary(FileDescriptorSetSchema, set) },
    operation: (route) => {
      const [, parameter] = /\{(\w+)/.exec(route.path) ?? [];
      return {
        method: `${SERVICE}/${nameMethod(route)}`,
        ...(['POST', 'PUT', 'PATCH'].includes(route.method) && { body: 'body' }),
        ...(parameter !== undefined && { bind: { [parameter]: 'argument' } }),
      };
    },
    invalid: { headers: { 'x-note': 'ä' } },
    connections: () => proxy.connections,
    down: () => proxy.set({ kind: 'refuse' }),
    up: () => proxy.set({ kind: 'none' }),
    stop: async () => {
      server.forceShutdown();
      await proxy.stop();
    },
  };
}

interface Sent extends Partial<Record<(typeof QUERY)[number], string>> {
  readonly argument?: string;
  readonly body?: { readonly contentType?: string; readonly data?: string };
}

function toTarget({ path }: ManifestRoute, sent: Sent): string {
  const [, name = ''] = path.split('/');
  const segments = [name, ...(sent.argument?.split('/').map(encodeURIComponent) ?? [])];
  const query = QUERY.flatMap((key) => (sent[key] === undefined ? [] : [`${key}=${sent[key]}`]));
  return `/${segments.join('/')}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

function respond(
  { status: code, headers, body }: ReferenceAnswer,
  callback: Parameters<handleUnaryCall<Buffer, Buffer>>[1],
  write: (message: object) => Buffer,
): void {
  const metadata = new Metadata();
  let contentType = '';
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-type') contentType = String(value);
    else for (const each of [value].flat()) metadata.add(name, each);
  }
  if (code >= 300) {
    callback({ code: CODES[code] ?? status.INTERNAL, details: `status ${code}`, metadata });
    return;
  }
  const data = Buffer.from(body ?? []).toString('base64');
  callback(null, write({ contentType, data }), metadata);
}

/** The adapter, with the path parameters that a host reads from the path and the suite leaves out. */
export const referenceAdapter: typeof grpcAdapter = {
  ...grpcAdapter,
  open: async (config, context) => {
    const provider = await grpcAdapter.open(config, context);
    return {
      ...provider,
      invoke: (invocation) => provider.invoke(addPathParams(invocation)),
    };
  },
};

function addPathParams(invocation: Invocation): Invocation {
  const { operation } = invocation;
  if (operation.kind !== 'http_route') return invocation;
  const { bind = {} } = Object(operation.options) as { bind?: Record<string, string> };
  const value = operation.providerPath.split('/').slice(2).join('/');
  const pathParams = Object.fromEntries(Object.keys(bind).map((name) => [name, value]));
  return Object.create(invocation, { operation: { value: { ...operation, pathParams } } });
}

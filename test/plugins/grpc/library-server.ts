import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  createFileRegistry,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import {
  type Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type StatusObject,
} from '@grpc/grpc-js';

import { knownMessage } from '../../../plugins/grpc/known-types.js';

/** The descriptor set of `test/corpus/grpc/library.proto`. */
export const LIBRARY_SET = new URL('../../../../test/corpus/grpc/library.binpb', import.meta.url);

/** A call as the server got it, with its message as JSON. */
export interface ReceivedCall {
  readonly method: string;
  readonly request: JsonValue;
  readonly metadata: Metadata;
  readonly deadlineMs: number;
  isCancelled: boolean;
}

/** A status other than OK. */
export class Failed extends Error {
  readonly status: Partial<StatusObject>;

  constructor(status: Partial<StatusObject>) {
    super(status.details ?? '');
    this.status = status;
  }
}

/** Answers a call with messages as JSON, or throws {@link Failed}. */
export type Answer = (
  call: ReceivedCall,
) => Iterable<JsonValue> | AsyncIterable<JsonValue> | Promise<readonly JsonValue[]>;

export interface LibraryServer {
  readonly port: number;
  readonly url: string;
  readonly calls: ReceivedCall[];
  readonly registry: FileRegistry;
  stop(): Promise<void>;
}

type RawCall = ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>;

export interface ReflectionOptions {
  readonly version: 'v1' | 'v1alpha';
  /** Files that the server does not deliver. */
  readonly without?: readonly string[];
  /** What the server delivers for each request instead. */
  readonly files?: readonly Uint8Array[];
  /** The file that the server delivers for a name instead, empty for that of a service. */
  readonly deliver?: (name: string) => Uint8Array;
}

interface ServerOptions {
  readonly port?: number;
  readonly credentials?: ServerCredentials;
  /** Default: none. */
  readonly reflection?: ReflectionOptions;
  /** Default: all. */
  readonly services?: readonly string[];
}

const SERVICES = ['library.v1.Library', 'library.v1.Echo'];

/** Serves the methods of the set with grpc-js, whose messages are bytes. */
export async function startLibrary(
  answers: Readonly<Record<string, Answer>>,
  options: ServerOptions = {},
): Promise<LibraryServer> {
  const { port = 0, credentials = ServerCredentials.createInsecure(), reflection } = options;
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(LIBRARY_SET));
  const registry = createFileRegistry(set);
  const server = new Server();
  const calls: ReceivedCall[] = [];
  for (const service of options.services ?? SERVICES) {
    const methods = registry.getService(service)?.methods ?? [];
    const handlers = Object.fromEntries(
      methods.map((method) => [
        method.name,
        handle(method, registry, answers[method.name] ?? (() => [{}]), calls),
      ]),
    );
    server.addService(
      Object.fromEntries(methods.map((method) => [method.name, toDefinition(service, method)])),
      handlers,
    );
  }
  if (reflection !== undefined) addReflection(server, registry, reflection);
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, value) =>
      error === null ? resolve(value) : reject(error),
    );
  });
  return {
    port: bound,
    url: `grpc://127.0.0.1:${bound}`,
    calls,
    registry,
    stop: async () => server.forceShutdown(),
  };
}

function toDefinition(service: string, method: DescMethod): ServiceDefinition[string] {
  const pass = (bytes: Buffer) => bytes;
  const definition: MethodDefinition<Buffer, Buffer> = {
    path: `/${service}/${method.name}`,
    requestStream:
      method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream:
      method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: pass,
    requestDeserialize: pass,
    responseSerialize: pass,
    responseDeserialize: pass,
  };
  return definition;
}

function handle(method: DescMethod, registry: FileRegistry, answer: Answer, calls: ReceivedCall[]) {
  const isStream = method.methodKind === 'server_streaming';
  return async (call: RawCall, callback?: (error: unknown, value?: Buffer) => void) => {
    const received: ReceivedCall = {
      method: method.name,
      request: toJson(method.input, fromBinary(method.input, call.request), { registry }),
      metadata: call.metadata,
      deadlineMs: Number(call.getDeadline()) - Date.now(),
      isCancelled: false,
    };
    const cancelled = once(call, 'cancelled').then(() => {
      received.isCancelled = true;
    });
    calls.push(received);
    const write = (json: JsonValue) =>
      Buffer.from(toBinary(method.output, fromJson(method.output, json, { registry })));
    try {
      for await (const json of await answer(received)) {
        if (!isStream) {
          callback?.(null, write(json));
          return;
        }
        const stream = call as ServerWritableStream<Buffer, Buffer>;
        if (received.isCancelled) return;
        if (!stream.write(write(json))) {
          await Promise.race([once(stream, 'drain'), cancelled]);
        }
      }
      if (isStream) (call as ServerWritableStream<Buffer, Buffer>).end();
    } catch (error) {
      const status = error instanceof Failed ? error.status : { code: 13, details: String(error) };
      if (isStream) (call as ServerWritableStream<Buffer, Buffer>).emit('error', status);
      else callback?.(status);
    }
  };
}

/** Delivers one file for each request, as some servers do; others deliver its imports as well. */
function addReflection(server: Server, registry: FileRegistry, options: ReflectionOptions): void {
  const service = `grpc.reflection.${options.version}.ServerReflection`;
  const method = { name: 'ServerReflectionInfo', methodKind: 'bidi_streaming' } as DescMethod;
  const definition = toDefinition(service, method);
  server.addService({ ServerReflectionInfo: definition } as ServiceDefinition, {
    ServerReflectionInfo: (call: ServerDuplexStream<Buffer, Buffer>) => {
      call.on('data', (bytes: Buffer) => call.write(describe(bytes, registry, options)));
      call.on('end', () => call.end());
    },
  });
}

function describe(bytes: Buffer, registry: FileRegistry, options: ReflectionOptions): Buffer {
  const question = fromBinary(knownMessage('grpc.reflection.v1.ServerReflectionRequest'), bytes);
  const {
    fileByFilename = '',
    fileContainingSymbol = '',
    listServices = '',
  } = question as Partial<Record<string, string>>;
  const response = knownMessage('grpc.reflection.v1.ServerReflectionResponse');
  const write = (json: JsonValue) => Buffer.from(toBinary(response, fromJson(response, json)));
  if (listServices !== '') {
    const service = [...registry].filter(({ kind }) => kind === 'service');
    const names = service.map(({ typeName }) => ({ name: typeName }));
    return write({ listServicesResponse: { service: names } });
  }
  if (options.deliver !== undefined) {
    const delivered = Buffer.from(options.deliver(fileByFilename)).toString('base64');
    return write({ fileDescriptorResponse: { fileDescriptorProto: [delivered] } });
  }
  const file = registry.getFile(fileByFilename) ?? registry.getService(fileContainingSymbol)?.file;
  if (options.files === undefined && (file === undefined || isLeftOut(file.proto.name, options))) {
    return write({ errorResponse: { errorCode: 5, errorMessage: 'not found' } });
  }
  const files = options.files ?? [toBinary(FileDescriptorProtoSchema, file?.proto as never)];
  const protos = files.map((each) => Buffer.from(each).toString('base64'));
  return write({ fileDescriptorResponse: { fileDescriptorProto: protos } });
}

function isLeftOut(name: string, { without = [] }: ReflectionOptions): boolean {
  return without.includes(name);
}

import {
  create,
  type FileRegistry,
  fromBinary,
  type Message,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import {
  BodyPieces,
  type BodyStream,
  type HttpRouteOperation,
  type Invocation,
  isBodyStream,
  isProviderFailure,
  joinBody,
  type ModuleProblem,
  type OpenContext,
  type Outcome,
  type Provider,
  type ProviderFact,
  ProviderFailure,
  type ProviderRoute,
} from '../../core/contract/index.js';
import {
  createInvalidRequest,
  type EndpointPlace,
  type SendRequest,
  streamOf,
} from '../shared/transport.js';
import { BoundRoute } from './bound-route.js';
import { type GrpcConfig, type GrpcOperation, grpcTransport } from './config.js';
import { findTooMany } from './count-values.js';
import { EndpointClient } from './endpoint-client.js';
import { createTooLarge } from './frames.js';
import type { GrpcCall } from './grpc-call.js';
import { knownMessage } from './known-types.js';
import { addResponseHeaders, readMetadata } from './metadata.js';
import { Reflection } from './reflection.js';
import { readDescriptorSet } from './schema.js';
import { type KnownSchema, ReflectedSource } from './schema-source.js';
import { toErrorOutcome, toFailure } from './statuses.js';

/** The longest body of a request, which is one message. Bytes. */
const MAX_REQUEST_BYTES = 16 * 1_048_576;
/** Bytes of a message with bytes besides these. */
const MAX_TYPE_BYTES = 4_096;
/** Bytes of a response to a health check. */
const MAX_HEALTH_BYTES = 1_024;
const HEALTH_PATH = '/grpc.health.v1.Health/Check';
const SERVING = 1;

/** Opens the connections of a module when they are needed. */
export async function openGrpcProvider(
  config: GrpcConfig,
  context: OpenContext,
): Promise<Provider> {
  const { file } = config.descriptors;
  const fixed = file === undefined ? null : readDescriptorSet(context.file(file));
  const { provider, find, tryEach, createCheck } = await grpcTransport.open(
    config,
    context,
    connectGrpc,
  );
  const source = new ReflectedSource({
    read: (services, signal) =>
      tryEach(signal, (client) => new Reflection(client, signal).read(services)),
    ...context,
  });
  const routes = new RouteMethods();
  return {
    ...provider,
    useRoutes: (all) => {
      routes.use(all);
      if (fixed === null) source.use(routes.services);
    },
    facts: () => listFacts(routes, fixed ?? source.schema, source),
    manifest: () => Promise.reject(new ProviderFailure('refused', 'gRPC has no manifests')),
    check: createCheck((client, signal) => checkHealth(client, config.health?.service, signal)),
    invoke: async (invocation) => {
      const { endpoint, operation } = invocation;
      if (operation.kind !== 'http_route') {
        throw new ProviderFailure('refused', `kind grpc has no ${operation.kind}`);
      }
      const client = find(endpoint);
      const schema = fixed ?? (await source.wait(invocation.cancellation ?? invocation.signal));
      const route = routes.find(operation, schema);
      return callRoute(client, route, { invocation, operation }, schema.registry);
    },
  };
}

/** A client for an endpoint, which connects with its first call. */
export function connectGrpc(place: EndpointPlace, send: SendRequest): EndpointClient {
  return new EndpointClient(place, send);
}

/** What operators should know of the methods. */
function listFacts(
  routes: RouteMethods,
  schema: KnownSchema | null,
  { problem }: ReflectedSource,
): ProviderFact[] {
  if (schema === null) {
    const value = problem ?? 'not read yet';
    return [{ name: 'reflection', value, problem: problem !== null }];
  }
  const { usable, unusable } = routes.list(schema);
  const problems = unusable.map(({ name, reason }) => ({ name, value: reason, problem: true }));
  return [{ name: 'methods', value: String(usable) }, ...problems];
}

class RouteMethods {
  #declared: readonly ProviderRoute[] = [];
  /** The routes of manifests that were replaced, whose calls may still come. */
  #earlier: readonly ProviderRoute[] = [];
  #schema: KnownSchema | null = null;
  /** By the options, an object for each route. */
  #routes = new Map<unknown, BoundRoute | Error>();

  get services(): string[] {
    return [...new Set(this.#declared.map((route) => serviceOf(route)))];
  }

  use(all: readonly ProviderRoute[]): void {
    this.#earlier = this.#declared;
    this.#declared = all;
    this.#schema = null;
  }

  /** @throws ProviderFailure for a route without a usable method. */
  find({ options, method, declaredPath }: HttpRouteOperation, schema: KnownSchema): BoundRoute {
    const route = this.#bind(schema).get(options);
    if (route instanceof BoundRoute) return route;
    const reason = route?.message ?? 'is not one of this provider';
    const detail = `route '${method} ${declaredPath}' ${reason}`;
    throw new ProviderFailure('protocol', detail, { phase: 'preparing', detail });
  }

  list(schema: KnownSchema) {
    const bound = this.#bind(schema);
    const unusable = this.#declared.flatMap(({ declared, options }) => {
      const route = bound.get(options);
      const name = `${declared.method} ${declared.path}`;
      return route instanceof Error ? [{ name, reason: route.message }] : [];
    });
    return { usable: this.#declared.length - unusable.length, unusable };
  }

  #bind(schema: KnownSchema): ReadonlyMap<unknown, BoundRoute | Error> {
    if (this.#schema === schema) return this.#routes;
    this.#schema = schema;
    this.#routes = new Map();
    for (const route of [...this.#earlier, ...this.#declared]) {
      this.#routes.set(route.options, bindRoute(schema, route));
    }
    return this.#routes;
  }
}

function serviceOf({ options }: ProviderRoute): string {
  return (options as GrpcOperation).method.split('/')[0] ?? '';
}

function bindRoute(schema: KnownSchema, route: ProviderRoute): BoundRoute | Error {
  const reason = schema.missing?.get(serviceOf(route));
  if (reason !== undefined) return new Error(`calls ${serviceOf(route)}, which ${reason}`);
  try {
    return new BoundRoute(schema.registry, route.options as GrpcOperation, route.declared);
  } catch (error) {
    return error instanceof Error ? error : new Error('cannot be bound');
  }
}

/**
 * Finds the routes whose methods a descriptor set does not describe, or describes otherwise.
 * @throws Error for bytes that are not a usable set.
 */
export function findUnusable(
  set: Uint8Array,
  routes: readonly ProviderRoute[],
): readonly ModuleProblem[] {
  const schema = readDescriptorSet(set);
  return routes.flatMap((route, index) => {
    const bound = bindRoute(schema, route);
    if (bound instanceof BoundRoute) return [];
    return { path: ['http_routes', index, 'operation', 'grpc'], message: bound.message };
  });
}

interface RouteCall {
  readonly invocation: Invocation;
  readonly operation: HttpRouteOperation;
}

async function callRoute(
  client: EndpointClient,
  route: BoundRoute,
  { invocation, operation }: RouteCall,
  registry: FileRegistry,
): Promise<Outcome> {
  const { headers, maxResponseBytes, holdBytes, context } = invocation;
  const metadata = readMetadata(headers);
  const contentType = headers['content-type'] ?? '';
  const { bodyStream } = operation;
  const encode = (body: Uint8Array | null) => route.encode(operation, contentType, body);
  // Checked before a connection is needed, and read once for all attempts.
  let message: Uint8Array | Promise<Uint8Array> | null =
    bodyStream === undefined ? encode(operation.body) : null;
  const signal = invocation.cancellation ?? invocation.signal;
  // The type is not a part of the bytes.
  const maxMessageBytes = maxResponseBytes + (route.hasBytes ? MAX_TYPE_BYTES : 0);
  const options = {
    path: route.path,
    metadata,
    message: () => {
      message ??= readAll(bodyStream as BodyStream, invocation).then(encode);
      return message;
    },
    limits: { signal, maxResponseBytes: maxMessageBytes, holdBytes, counter: invocation },
    context,
  };
  const outcome = await client.call(options, (call) => {
    const response = new RouteResponse(call, route, registry, maxResponseBytes);
    return route.isStreaming ? response.stream(holdBytes) : response.whole(holdBytes);
  });
  return operation.method === 'HEAD' ? withoutBody(outcome) : outcome;
}

/** The method has no form without its response. */
function withoutBody(outcome: Outcome): Outcome {
  const { body, headers } = outcome;
  if (body === null || isBodyStream(body)) {
    // Ends the call.
    if (body !== null) void body[Symbol.asyncIterator]().return?.();
    return { ...outcome, body: null };
  }
  return {
    ...outcome,
    headers: { ...headers, 'content-length': String(joinBody(body).length) },
    body: null,
  };
}

/** @throws ProviderFailure for more than a message may have. */
async function readAll(body: BodyStream, invocation: Invocation): Promise<Uint8Array> {
  const pieces = new BodyPieces();
  for await (const part of body) {
    // Until the call has ended.
    invocation.hold?.(part.length);
    pieces.add(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
    if (pieces.length > MAX_REQUEST_BYTES) {
      throw createInvalidRequest('', `must have at most ${MAX_REQUEST_BYTES} bytes`);
    }
  }
  return pieces.join();
}

/** The response of a call as JSON, as lines of JSON, or as bytes. */
class RouteResponse {
  readonly #call: GrpcCall;
  readonly #route: BoundRoute;
  readonly #registry: FileRegistry;
  readonly #maxBytes: number;

  constructor(call: GrpcCall, route: BoundRoute, registry: FileRegistry, maxBytes: number) {
    this.#call = call;
    this.#route = route;
    this.#registry = registry;
    this.#maxBytes = maxBytes;
  }

  /** Expects exactly one message, or a status other than OK. */
  async whole(holdBytes = this.#maxBytes): Promise<Outcome> {
    const call = this.#call;
    const first = await call.next();
    const second = first === null ? null : await call.next();
    if (second !== null) throw createUnusable('has more than one message');
    const { status } = call.end ?? {};
    if (status !== undefined && status.code !== 0) return this.#toError();
    if (first === null) throw createUnusable('has no message');
    const { contentType, bytes } = this.#convert(first, false);
    const body = bytes.length > holdBytes ? streamOf(bytes) : bytes;
    return { status: 200, headers: this.#createHeaders(contentType), body };
  }

  async stream(holdBytes = this.#maxBytes): Promise<Outcome> {
    const call = this.#call;
    await call.head();
    const first = await this.#nextUnlessOpen(holdBytes);
    if (first === null && call.end !== null && call.end.status.code !== 0) return this.#toError();
    const held = new BodyPieces();
    let contentType = this.#route.hasBytes ? 'application/octet-stream' : 'application/x-ndjson';
    if (first !== null && first !== 'open') {
      const converted = this.#convert(first, true);
      if (this.#route.hasBytes) contentType = converted.contentType;
      held.add(converted.bytes);
    }
    const headers = this.#createHeaders(contentType);
    while (first !== null && first !== 'open' && held.length <= holdBytes) {
      const message = await call.next();
      if (message === null) break;
      held.add(this.#convert(message, true).bytes);
      this.#assertSize(held.length);
    }
    if (call.end !== null && held.length <= holdBytes && first !== 'open') {
      if (call.end.status.code !== 0) throw toFailure(call.end.status);
      return { status: 200, headers, body: held.list };
    }
    return { status: 200, headers, body: this.#passOn(held) };
  }

  /** With nothing to hold, a stream is open with its head; its type of bytes comes with the first message. */
  async #nextUnlessOpen(holdBytes: number): Promise<Buffer | 'open' | null> {
    const isOver = this.#call.headers['grpc-status'] !== undefined;
    if (holdBytes === 0 && !this.#route.hasBytes && !isOver) return 'open';
    return this.#call.next();
  }

  async *#passOn(held: BodyPieces): AsyncGenerator<Uint8Array, void, undefined> {
    const call = this.#call;
    let { length } = held;
    try {
      yield* held.list;
      for (let next = await call.next(); next !== null; next = await call.next()) {
        const { bytes } = this.#convert(next, true);
        length += bytes.length;
        this.#assertSize(length);
        yield bytes;
      }
      const { status } = call.end ?? {};
      if (status !== undefined && status.code !== 0) throw toFailure(status);
    } finally {
      call.cancel();
    }
  }

  #assertSize(length: number): void {
    if (length <= this.#maxBytes) return;
    const failure = createTooLarge(this.#maxBytes);
    this.#call.fail(failure);
    throw failure;
  }

  #toError(): Outcome {
    const { status } = this.#call.end ?? {};
    if (status === undefined) throw createUnusable('has no status');
    return toErrorOutcome(status, this.#registry);
  }

  #createHeaders(contentType: string): Record<string, string> {
    const { headers, end } = this.#call;
    const all: Record<string, string> = { 'content-type': contentType };
    addResponseHeaders(all, headers);
    if (end !== null) addResponseHeaders(all, end.trailers);
    return all;
  }

  /** @throws ProviderFailure `protocol` for a message that has no JSON. */
  #convert(bytes: Buffer, isLine: boolean): { contentType: string; bytes: Buffer } {
    try {
      const converted = this.#read(bytes);
      if (!(converted instanceof Uint8Array)) {
        const text = JSON.stringify(converted);
        const json = Buffer.from(isLine ? `${text}\n` : text);
        this.#assertSize(json.length);
        return { contentType: 'application/json', bytes: json };
      }
      this.#assertSize(converted.length);
      return { contentType: this.#readType(bytes), bytes: Buffer.from(converted) };
    } catch (error) {
      this.#call.cancel();
      if (isProviderFailure(error)) throw error;
      throw createUnusable(describeUnreadable(error));
    }
  }

  #read(bytes: Buffer): unknown {
    const { responseField: field } = this.#route;
    const { output } = this.#route.method;
    const excess = findTooMany(output, bytes, this.#registry);
    if (excess !== null) throw createUnusable(excess);
    const message = fromBinary(output, bytes);
    if (this.#route.hasBytes) return Reflect.get(this.#findBytes(message), 'data');
    const json = toJson(output, message, { registry: this.#registry });
    if (field === null) return json;
    const value: unknown = Reflect.get(Object(json), field.jsonName);
    if (value !== undefined) return value;
    return EMPTY[field.fieldKind] ?? null;
  }

  #findBytes(message: Message): object {
    const { responseField: field } = this.#route;
    return field === null ? message : (Reflect.get(message, field.localName) ?? { data: NOTHING });
  }

  #readType(bytes: Buffer): string {
    const { output } = this.#route.method;
    const type: unknown = Reflect.get(this.#findBytes(fromBinary(output, bytes)), 'contentType');
    const isValid = typeof type === 'string' && /^[\x21-\x7e][\x20-\x7e]*$/.test(type);
    return isValid ? type : 'application/octet-stream';
  }
}

const NOTHING = new Uint8Array();
/** The JSON of a field that is not set. */
const EMPTY: Readonly<Record<string, unknown>> = { list: [], map: {} };

/** The message of the library names the URL of the type, with any prefix. */
const UNKNOWN_TYPE = /"(?:[^"]*\/)?([\w.]{1,200})" is not in the type registry/;

function describeUnreadable(error: unknown): string {
  const [, typeName] = UNKNOWN_TYPE.exec(error instanceof Error ? error.message : '') ?? [];
  return typeName === undefined
    ? 'does not fit the message'
    : `has an Any of ${typeName}, which is not described`;
}

function createUnusable(problem: string): ProviderFailure {
  return new ProviderFailure('protocol', `response ${problem}`, { status: 200, phase: 'answered' });
}

/** Without a service, a connection is enough. */
async function checkHealth(
  client: EndpointClient,
  service: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (service === undefined) {
    return client.connections.probe(signal);
  }
  const request = knownMessage('grpc.health.v1.HealthCheckRequest');
  const message = toBinary(request, Object.assign(create(request), { service }));
  const limits = { signal, maxBytes: MAX_HEALTH_BYTES };
  const bytes = await client.ask(HEALTH_PATH, message, limits, toFailure);
  const type = knownMessage('grpc.health.v1.HealthCheckResponse');
  if (Reflect.get(fromBinary(type, bytes ?? NOTHING), 'status') === SERVING) return;
  throw new ProviderFailure('unavailable', 'the health check did not answer SERVING');
}

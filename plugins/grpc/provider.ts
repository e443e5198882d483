import { create, type FileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  BodyPieces,
  type BodyStream,
  type HttpRouteOperation,
  type Invocation,
  isBodyStream,
  joinBody,
  type OpenContext,
  type Outcome,
  type Provider,
  type ProviderFact,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createInvalidRequest, type EndpointPlace, type SendRequest } from '../shared/transport.js';
import type { BoundRoute } from './bound-route.js';
import { type GrpcConfig, grpcTransport } from './config.js';
import { EndpointClient } from './endpoint-client.js';
import { knownMessage } from './known-types.js';
import { readMetadata } from './metadata.js';
import { Reflection } from './reflection.js';
import { RouteMethods } from './route-methods.js';
import { RouteResponse } from './route-response.js';
import { readDescriptorSet } from './schema.js';
import { type KnownSchema, ReflectedSource } from './schema-source.js';
import { toFailure } from './statuses.js';

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
  return client.call(options, async (call) => {
    const response = new RouteResponse(call, route, registry, maxResponseBytes);
    const outcome = await (route.isStreaming
      ? response.stream(holdBytes)
      : response.whole(holdBytes));
    if (operation.method !== 'HEAD') return outcome;
    // The call would stay open until its body is read.
    call.cancel();
    return withoutBody(outcome);
  });
}

/** The method has no form without its response. */
function withoutBody(outcome: Outcome): Outcome {
  const { body, headers } = outcome;
  if (body === null || isBodyStream(body)) return { ...outcome, body: null };
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
  if (Reflect.get(fromBinary(type, bytes ?? new Uint8Array()), 'status') === SERVING) return;
  throw new ProviderFailure('unavailable', 'the health check did not answer SERVING');
}

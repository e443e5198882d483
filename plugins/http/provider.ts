import {
  type AdminActionOperation,
  type AdminListOperation,
  type Balancing,
  type ConfigureOperation,
  type Invocation,
  type Provider,
  ProviderFailure,
} from '../../core/contract/index.js';
import { withDeadline } from '../shared/deadline.js';
import {
  assertSuccess,
  MANIFEST_TIMEOUT_MS,
  MAX_MANIFEST_BYTES,
  readManifestResponse,
} from '../shared/own-requests.js';
import type { Replica, ReplicaSet } from './replica.js';
import type { SendRequest } from './send-request.js';
import type { UpstreamLimits } from './upstream-request.js';

/**
 * The limit for a response to a health check, whose body is ignored, but read so that the
 * connection can be reused.
 */
const MAX_HEALTH_BYTES = 1_048_576;

/** Headers of manifest requests and health checks. */
const OWN_HEADERS = { accept: 'application/json', 'accept-encoding': 'identity' };

type Headers = Readonly<Record<string, string>>;

export interface HttpProviderOptions {
  readonly replicas: ReplicaSet;
  /** Only for endpoints that change. */
  readonly follow?: NonNullable<Provider['followEndpoints']>;
  readonly balancing: Balancing;
  readonly send: SendRequest;
  readonly credentialProblem: () => string | null;
  readonly manifestPath: string;
  /** `null` if a check only connects. */
  readonly healthPath: string | null;
  readonly checkTimeoutMs: number;
}

export function createHttpProvider(options: HttpProviderOptions): Provider {
  const { replicas, send, manifestPath, healthPath, follow } = options;
  const get = (replica: Replica, target: string, maxResponseBytes: number, signal: AbortSignal) =>
    send(
      replica,
      { method: 'GET', target, headers: OWN_HEADERS, body: null },
      { maxResponseBytes, signal },
    );

  const checkOne = async (replica: Replica, signal: AbortSignal) => {
    if (healthPath === null) return replica.connector.probe(signal);
    const { status } = await get(replica, healthPath, MAX_HEALTH_BYTES, signal);
    assertSuccess('the health check', status);
  };

  const administer = async (
    replica: Replica,
    operation: AdministrativeOperation,
    { headers: invocationHeaders, context }: Invocation,
    limits: UpstreamLimits,
  ) => {
    const { method, path, body } = createOperationRequest(operation);
    const headers = addContentType(invocationHeaders, body);
    return send(replica, { method, target: path, headers, body, context }, limits);
  };

  return {
    endpoints: () => replicas.endpoints,
    ...(follow && { followEndpoints: follow }),
    balancing: () => options.balancing,
    credentialProblem: options.credentialProblem,

    manifest: (signal) =>
      withDeadline(signal, MANIFEST_TIMEOUT_MS, async (deadline) => {
        const read = async (replica: Replica) =>
          readManifestResponse(
            `GET ${withoutQuery(manifestPath)}`,
            await get(replica, manifestPath, MAX_MANIFEST_BYTES, deadline),
          );
        return tryInOrder(replicas.list(), deadline, read);
      }),

    check: (signal, endpoint) =>
      withDeadline(signal, options.checkTimeoutMs, async (deadline) => {
        const checked =
          endpoint === undefined ? replicas.list() : [findReplica(replicas, endpoint)];
        await tryInOrder(checked, deadline, (replica) => checkOne(replica, deadline));
      }),

    // Not `async`, which would add a promise per call.
    invoke(invocation) {
      const { endpoint, headers, operation, context, maxResponseBytes, holdBytes } = invocation;
      const replica = endpoint === undefined ? replicas.first : replicas.find(endpoint);
      if (replica === undefined) return Promise.reject(createUnknownEndpoint());
      const signal = invocation.cancellation ?? invocation.signal;
      const limits = { maxResponseBytes, holdBytes, signal, counter: invocation };
      if (operation.kind !== 'http_route') {
        return administer(replica, operation, invocation, limits);
      }
      const { method, target, upgrade } = operation;
      const body = operation.bodyStream ?? operation.body;
      return send(replica, { method, target, headers, body, context, upgrade }, limits);
    },
  };
}

/** Removes the query, which may contain a credential. */
function withoutQuery(path: string): string {
  return path.split('?', 1)[0] ?? path;
}

function findReplica(replicas: ReplicaSet, endpoint: string): Replica {
  const replica = replicas.find(endpoint);
  if (replica !== undefined) return replica;
  throw createUnknownEndpoint();
}

function createUnknownEndpoint(): ProviderFailure {
  const message = 'the endpoint is not one of this provider';
  return new ProviderFailure('unavailable', message, { phase: 'connecting' });
}

/** Returns the first success, so that one unavailable replica does not block the others. */
async function tryInOrder<T>(
  replicas: readonly Replica[],
  signal: AbortSignal,
  run: (replica: Replica) => Promise<T>,
): Promise<T> {
  let last: unknown;
  for (const replica of replicas) {
    try {
      return await run(replica);
    } catch (error) {
      last = error;
      if (signal.aborted) break;
    }
  }
  throw last;
}

function addContentType(headers: Headers, body: Buffer | null): Headers {
  return body === null ? headers : { ...headers, 'content-type': 'application/json' };
}

/** A request before the prefix of an endpoint, the common headers and the credentials. */
interface OperationRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** JSON. */
  readonly body: Buffer | null;
}

/** Operations other than forwarded routes. */
type AdministrativeOperation = AdminListOperation | AdminActionOperation | ConfigureOperation;

/**
 * Maps an operation other than `http_route` to an HTTP request.
 * @throws ProviderFailure `refused` when the manifest names no path; it does not count for a
 * breaker.
 */
function createOperationRequest(operation: AdministrativeOperation): OperationRequest {
  switch (operation.kind) {
    case 'admin_list': {
      const path = requirePath(operation.path, `entity '${operation.entity}'`, 'list_path');
      return { method: 'GET', path: `${path}?${listQuery(operation)}`, body: null };
    }
    case 'admin_action': {
      const path = requirePath(operation.path, `action '${operation.action}'`, 'invoke_path');
      return { method: 'POST', path, body: toBuffer(operation.inputJson) };
    }
    case 'configure': {
      const path = requirePath(operation.path, 'config', 'delivery_path');
      const { revision, values } = operation;
      return { method: 'PUT', path, body: encodeJson({ revision, values }) };
    }
  }
}

function listQuery({ limit, cursor }: AdminListOperation): string {
  if (cursor === null) return `limit=${limit}`;
  // The cursor comes from the client, and the encoder throws for a lone surrogate.
  return `limit=${limit}&cursor=${encodeURIComponent(cursor.toWellFormed())}`;
}

function requirePath(path: string | null, subject: string, field: string): string {
  if (path !== null) return path;
  throw new ProviderFailure('refused', `${subject} has no ${field} in the manifest`);
}

function encodeJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value ?? null));
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

import {
  type AdminActionOperation,
  type AdminListOperation,
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
import type { CallLimits } from '../shared/transport/send-request.js';
import type { OpenTransport } from '../shared/transport/transport.js';
import type { HttpClient } from './connect-http.js';

/**
 * The limit for a response to a health check, whose body is ignored, but read so that the
 * connection can be reused.
 */
const MAX_HEALTH_BYTES = 1_048_576;

/** Headers of manifest requests and health checks. */
const OWN_HEADERS = { accept: 'application/json', 'accept-encoding': 'identity' };

type Headers = Readonly<Record<string, string>>;

interface HttpPaths {
  readonly manifestPath: string;
  /** `null` if a check only connects. */
  readonly healthPath: string | null;
}

export function createHttpProvider(
  { provider, send, find, tryEach, createCheck }: OpenTransport<HttpClient>,
  { manifestPath, healthPath }: HttpPaths,
): Provider {
  const get = (
    replica: HttpClient,
    target: string,
    maxResponseBytes: number,
    signal: AbortSignal,
  ) =>
    send(
      replica,
      { method: 'GET', target, headers: OWN_HEADERS, body: null },
      { maxResponseBytes, signal },
    );

  const checkOne = async (replica: HttpClient, signal: AbortSignal) => {
    if (healthPath === null) return replica.probe(signal);
    const { status } = await get(replica, healthPath, MAX_HEALTH_BYTES, signal);
    assertSuccess('the health check', status);
  };

  const administer = async (
    replica: HttpClient,
    operation: AdministrativeOperation,
    { headers: invocationHeaders, context }: Invocation,
    limits: CallLimits,
  ) => {
    const { method, path, body } = createOperationRequest(operation);
    const headers = addContentType(invocationHeaders, body);
    return send(replica, { method, target: path, headers, body, context }, limits);
  };

  return {
    manifest: (signal) =>
      withDeadline(signal, MANIFEST_TIMEOUT_MS, async (deadline) => {
        const read = async (replica: HttpClient) =>
          readManifestResponse(
            `GET ${withoutQuery(manifestPath)}`,
            await get(replica, manifestPath, MAX_MANIFEST_BYTES, deadline),
          );
        return tryEach(deadline, read);
      }),

    check: createCheck(checkOne),

    // Not `async`, which would add a promise per call.
    invoke(invocation) {
      const { endpoint, headers, operation, context, maxResponseBytes, holdBytes } = invocation;
      let replica: HttpClient;
      try {
        replica = find(endpoint);
      } catch (failure) {
        return Promise.reject(failure);
      }
      const signal = invocation.cancellation ?? invocation.signal;
      const limits = { maxResponseBytes, holdBytes, signal, counter: invocation };
      if (operation.kind !== 'http_route') {
        return administer(replica, operation, invocation, limits);
      }
      const { method, target, upgrade } = operation;
      const body = operation.bodyStream ?? operation.body;
      return send(replica, { method, target, headers, body, context, upgrade }, limits);
    },

    ...provider,
  };
}

/** Removes the query, which may contain a credential. */
function withoutQuery(path: string): string {
  return path.split('?', 1)[0] ?? path;
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

import {
  type AdminActionOperation,
  type AdminListOperation,
  type ConfigureOperation,
  ProviderFailure,
} from '../../core/contract/index.js';

/** A request before the prefix of an endpoint, the common headers and the credentials. */
interface OperationRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** JSON. */
  readonly body: Buffer | null;
}

/** Operations other than forwarded routes. */
export type AdministrativeOperation =
  | AdminListOperation
  | AdminActionOperation
  | ConfigureOperation;

/**
 * Maps an operation other than `http_route` to an HTTP request.
 * @throws ProviderFailure `refused` when the manifest names no path; it does not count for a breaker.
 */
export function createOperationRequest(operation: AdministrativeOperation): OperationRequest {
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

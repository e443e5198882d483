import {
  type AdminActionOperation,
  type AdminListOperation,
  type ConfigureOperation,
  ProviderFailure,
} from '../../core/contract/index.js';

/** A request before the prefix of an endpoint, the common headers and the credentials. */
export interface OperationRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** JSON. */
  readonly body: Buffer | null;
}

/** What is asked beside the forwarded routes. */
export type AdministrativeOperation =
  | AdminListOperation
  | AdminActionOperation
  | ConfigureOperation;

/**
 * How the operations beside `http_route` travel over HTTP (contract 5).
 * @throws ProviderFailure `refused` when the manifest names no path: nothing was sent, and no breaker
 * may open because of it.
 */
export function requestFor(operation: AdministrativeOperation): OperationRequest {
  switch (operation.kind) {
    case 'admin_list': {
      const path = needPath(operation.path, `entity '${operation.entity}'`, 'list_path');
      return { method: 'GET', path: `${path}?${listQuery(operation)}`, body: null };
    }
    case 'admin_action': {
      const path = needPath(operation.path, `action '${operation.action}'`, 'invoke_path');
      return { method: 'POST', path, body: toBuffer(operation.inputJson) };
    }
    case 'configure': {
      const path = needPath(operation.path, 'config', 'delivery_path');
      const { revision, values } = operation;
      return { method: 'PUT', path, body: encodeJson({ revision, values }) };
    }
  }
}

function listQuery({ limit, cursor }: AdminListOperation): string {
  if (cursor === null) return `limit=${limit}`;
  // A cursor comes back from the caller: a lone surrogate in it would make the encoder throw.
  return `limit=${limit}&cursor=${encodeURIComponent(cursor.toWellFormed())}`;
}

function needPath(path: string | null, subject: string, field: string): string {
  if (path !== null) return path;
  throw new ProviderFailure('refused', `${subject} has no ${field} in the manifest`);
}

function encodeJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value ?? null));
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

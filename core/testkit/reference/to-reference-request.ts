import type { ProviderOperation } from '../../contract/index.js';
import type { ReferenceRequest } from './reference-protocol.js';

/**
 * Converts an operation to the HTTP request that represents it, for the provider's end of a transport
 * that carries operations themselves.
 * @throws Error for an operation without a path, which the manifest of the reference module never has.
 */
export function toReferenceRequest(
  operation: ProviderOperation,
  headers: Readonly<Record<string, string>> = {},
): ReferenceRequest {
  if (operation.kind === 'http_route') {
    const { method, target, body } = operation;
    return { method, target, headers, body };
  }
  const { path } = operation;
  if (path === null) throw new Error(`the ${operation.kind} has no path`);
  switch (operation.kind) {
    case 'admin_list': {
      const query = new URLSearchParams({ limit: String(operation.limit) });
      if (operation.cursor !== null) query.set('cursor', operation.cursor);
      return { method: 'GET', target: `${path}?${query}`, headers, body: null };
    }
    case 'admin_action':
      return { method: 'POST', target: path, headers, body: operation.inputJson };
    case 'configure': {
      const { revision, values } = operation;
      const body = Buffer.from(JSON.stringify({ revision, values }));
      return { method: 'PUT', target: path, headers, body };
    }
  }
}

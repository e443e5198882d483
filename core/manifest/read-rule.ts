import type { ManifestRoute } from '../contract/index.js';

/** Whether calls of a route only read: each GET, and any other route that says so. */
export function isReading({ method, operation }: Pick<ManifestRoute, 'method' | 'operation'>) {
  return method === 'GET' || operation?.reads === true;
}

import type { Method } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import type { Explanation } from './explanation.js';

/** The body policy of a route (contract 1.5). */
export function explainBody(method: Method, { limits }: Descriptor): Explanation['body'] {
  if (method === 'GET') return { policy: 'ignored', max_bytes: null };
  if (method === 'DELETE') return { policy: 'empty', max_bytes: 0 };
  return { policy: 'json', max_bytes: limits.requestBytes };
}

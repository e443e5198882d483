import type { HttpRouteOperation } from '../../core/contract/index.js';

export function createRouteHeaders({
  method,
  declaredPath,
  target,
}: Pick<HttpRouteOperation, 'method' | 'declaredPath' | 'target'>): Record<string, string> {
  const queryAt = target.indexOf('?');
  return {
    'modgate-method': method,
    'modgate-declared-path': declaredPath,
    'modgate-path': queryAt === -1 ? target : target.slice(0, queryAt),
    ...(queryAt !== -1 && { 'modgate-query': target.slice(queryAt + 1) }),
  };
}

export const STATUS_HEADER = 'modgate-status';

/** Control characters that a header of HTTP cannot have. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
export const UNSAFE_VALUE = /[\u0000-\u0008\u000a-\u001f\u007f]/;

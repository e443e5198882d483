import { SurfaceError } from '../../core/contract/index.js';

/** Creates a 404. @param prefix the prefix of the surface */
export function createNotFound(prefix: string): SurfaceError {
  return new SurfaceError('not_found', `${prefix} has no such path`, {
    nextActions: [`open ${prefix}`],
  });
}

/** Creates a 405. */
export function createMethodError(...allowed: readonly string[]): SurfaceError {
  return new SurfaceError('method_not_allowed', 'the path does not support this method', {
    headers: { allow: allowed.join(', ') },
    nextActions: [`use ${allowed.join(' or ')}`],
  });
}

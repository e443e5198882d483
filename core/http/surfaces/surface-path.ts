import { HostError } from '../../errors.js';
import { firstSegment } from '../../lib/routing/request-path.js';
import { HOST_PATHS } from '../routes/host-route-list.js';

/** A single segment. */
const PREFIX = /^\/[a-z0-9][a-z0-9-]{0,62}$/;

/** The first segments of the host's own routes. */
export const HOST_PREFIXES: ReadonlySet<string> = new Set(HOST_PATHS.map(firstSegment));

export function isSurfacePrefix(prefix: unknown): prefix is string {
  return typeof prefix === 'string' && PREFIX.test(prefix);
}

/** Whether a prefix is one of the host's own, or below one. */
export function isHostPrefix(prefix: unknown): boolean {
  return typeof prefix === 'string' && HOST_PREFIXES.has(firstSegment(prefix));
}

/**
 * Parses a target for a surface.
 * @throws HostError 404 for a path that a URL parser would rewrite, such as one with dot segments:
 * the surface would see a different path than the host.
 */
export function parseSurfaceUrl(target: string, origin: string): URL {
  const [path = ''] = target.split('?', 1);
  const url = URL.canParse(target, origin) ? new URL(target, origin) : null;
  // A target that starts with two slashes would name another host.
  const isSame = url !== null && url.pathname === path && url.hash === '' && url.origin === origin;
  if (isSame) return url;
  throw new HostError('not_found', 'the host has no such path', {
    nextActions: ['send the path without dot segments and percent-encode special characters'],
  });
}

import { type SurfaceCall, SurfaceError } from '../../../core/contract/index.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Whether a page of another site cannot make a browser send this request. */
export function isOwnSite(request: Request, call: SurfaceCall): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site === 'cross-site' || site === 'same-site') return false;
  return SAFE_METHODS.has(request.method) || call.isSameOrigin;
}

/**
 * Rejects requests that a page of another site can make a browser send. The cookie alone does not
 * suffice, because it is also sent from another port or a sister domain.
 * @throws SurfaceError 403.
 */
export function assertOwnSite(request: Request, call: SurfaceCall): void {
  if (!isOwnSite(request, call)) {
    throw new SurfaceError('forbidden', 'a page of another origin made the request', {
      errors: [{ field: 'origin', reason: 'not the origin of the host' }],
      nextActions: ['send sec-fetch-site: same-origin or the origin of the host'],
    });
  }
}

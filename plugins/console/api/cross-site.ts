import { type SurfaceCall, SurfaceError } from '../../../core/contract/index.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const JSON_TYPE = /^application\/json(?:\s*;\s*charset=utf-8)?$/i;

/**
 * Rejects what a page of another site can make a browser send. The cookie is no proof, because it is also sent
 * from another port or a sister domain.
 * @throws SurfaceError 403.
 */
export function assertOwnSite(request: Request, call: SurfaceCall): void {
  const site = request.headers.get('sec-fetch-site');
  const isOther = site === 'cross-site' || site === 'same-site';
  const isChange = !SAFE_METHODS.has(request.method);
  if (isOther || (isChange && !call.isSameOrigin)) {
    throw new SurfaceError('forbidden', 'a page of another origin made the request', {
      errors: [{ field: 'origin', reason: 'not the origin of the host' }],
      nextActions: ['send sec-fetch-site: same-origin or the origin of the host'],
    });
  }
  if (!isChange || request.body === null) return;
  if (JSON_TYPE.test(request.headers.get('content-type') ?? '')) return;
  throw new SurfaceError('forbidden', 'the body of a request of the console is JSON', {
    errors: [{ field: 'content-type', reason: 'not application/json' }],
    nextActions: ['send content-type: application/json'],
  });
}

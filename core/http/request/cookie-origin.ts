import type { IncomingMessage } from 'node:http';
import { HostError } from '../../errors.js';
import type { CallerHeaders } from './caller-headers.js';
import { findOwnOrigin } from './own-origin.js';

/** The pages whose requests may use a cookie as their credential. */
export interface TrustedPages {
  /** The origin under which the host is reached; `null`: that of the request, where it is reliable. */
  readonly publicUrl: string | null;
  /** Other origins: those of the setting `cors`, if it allows credentials. */
  readonly origins: ReadonlySet<string>;
}

interface CookieRequest {
  readonly req: IncomingMessage;
  readonly headers: CallerHeaders;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Browsers add cookies to requests of any page, so the page must be one of the host or a trusted one
 * (cross-site request forgery).
 * @throws HostError 403.
 */
export function assertTrustedPage({ req, headers }: CookieRequest, pages: TrustedPages): void {
  if (SAFE_METHODS.has(req.method ?? '')) return;
  if (headers.get('sec-fetch-site') === 'same-origin') return;
  const origin = headers.get('origin');
  if (origin !== undefined && isTrusted(origin, req, pages)) return;
  throw new HostError('forbidden', 'a cookie is accepted only from pages of a trusted origin', {
    errors: [{ field: 'origin', reason: origin === undefined ? 'missing' : 'not trusted' }],
    nextActions: ['send the credentials in a header, or call from a page of a trusted origin'],
    reason: 'cookie',
  });
}

function isTrusted(origin: string, req: IncomingMessage, pages: TrustedPages): boolean {
  if (pages.origins.has(origin)) return true;
  return origin === findOwnOrigin(req, pages.publicUrl);
}

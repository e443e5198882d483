import type { IncomingMessage } from 'node:http';
import { HostError } from '../../errors.js';
import { findHandshake } from '../server/handshake.js';
import type { CallerHeaders } from './caller-headers.js';
import { findOwnOrigin } from './own-origin.js';

/** The pages whose requests may use credentials that browsers add automatically. */
export interface TrustedPages {
  /** The public origin of the host; `null` for that of the request, if it is reliable. */
  readonly publicUrl: string | null;
  /** Other origins: those of the setting `cors`, if it allows credentials. */
  readonly origins: ReadonlySet<string>;
}

interface CookieRequest {
  readonly req: IncomingMessage;
  readonly headers: CallerHeaders;
}

/** Credentials that browsers add automatically. */
type BrowserCredential = 'cookie' | 'password' | 'certificate';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Also accepts requests with neither header: clients other than browsers have passwords and
 * certificates too.
 * @throws HostError 403.
 */
export function assertTrustedPageOrNone(
  request: CookieRequest,
  pages: TrustedPages,
  credential: BrowserCredential,
): void {
  const { headers } = request;
  const isPage = headers.get('origin') ?? headers.get('sec-fetch-site');
  if (isPage !== undefined) assertTrustedPage(request, pages, credential);
}

/**
 * Requires a page of the host or a trusted one, because browsers add such credentials to requests
 * of any page (cross-site request forgery).
 * @throws HostError 403.
 */
export function assertTrustedPage(
  { req, headers }: CookieRequest,
  pages: TrustedPages,
  credential: BrowserCredential,
): void {
  // This is the only check that prevents a page from reading a WebSocket.
  if (SAFE_METHODS.has(req.method ?? '') && findHandshake(req) === null) return;
  if (headers.get('sec-fetch-site') === 'same-origin') return;
  const origin = headers.get('origin');
  if (origin !== undefined && isTrusted(origin, req, pages)) return;
  throw new HostError(
    'forbidden',
    `a ${credential} is accepted only from pages of a trusted origin`,
    {
      errors: [{ field: 'origin', reason: origin === undefined ? 'missing' : 'not trusted' }],
      nextActions: ['send the credentials in a header, or call from a page of a trusted origin'],
      reason: credential,
      step: 'origin',
    },
  );
}

function isTrusted(origin: string, req: IncomingMessage, pages: TrustedPages): boolean {
  if (pages.origins.has(origin)) return true;
  return origin === findOwnOrigin(req, pages.publicUrl);
}

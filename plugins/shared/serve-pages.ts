import { SurfaceError } from '../../core/contract/index.js';
import type { Bundle, BundledFile } from './bundle.js';
import { createMethodError, createNotFound } from './surface-errors.js';

interface Pages {
  /** The prefix of the surface: `/docs`. */
  readonly prefix: string;
  /** `null` if the pages are not built. */
  readonly bundle: Bundle | null;
}

const IMMUTABLE = 'max-age=31536000, immutable';

/** Serves a file below PREFIX/assets, otherwise the page, which is the same for every path. */
export function servePages({ prefix, bundle }: Pages, request: Request): Response {
  const { method } = request;
  if (method !== 'GET' && method !== 'HEAD') throw createMethodError('GET', 'HEAD');
  if (bundle === null) {
    throw new SurfaceError('unavailable', `the pages of ${prefix} are not built`, {
      nextActions: ['run npm run build'],
    });
  }
  const { pathname } = new URL(request.url);
  const assets = `${prefix}/assets/`;
  if (!pathname.startsWith(assets)) return createFile(bundle.index, 'no-cache', request);
  const asset = bundle.assets.get(pathname.slice(assets.length));
  if (asset === undefined) throw createNotFound(prefix);
  return createFile(asset, IMMUTABLE, request);
}

function createFile(file: BundledFile, cacheControl: string, request: Request): Response {
  const accepted = request.headers.get('accept-encoding') ?? '';
  const [coding = null, bytes = file.bytes] =
    [...file.encoded].find(([name]) => acceptsCoding(accepted, name)) ?? [];
  return new Response(bytes, {
    headers: {
      ...PAGE_HEADERS,
      'content-type': file.contentType,
      'content-length': String(bytes.length),
      'cache-control': cacheControl,
      vary: 'accept-encoding',
      ...(coding !== null && { 'content-encoding': coding }),
    },
  });
}

/** Accepts only codings that the client names: `*` and weights other than 0 are ignored. */
function acceptsCoding(accepted: string, coding: string): boolean {
  return accepted.split(',').some((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part));
  });
}

/**
 * The headers of every page and its files. They allow no code but the bundled one, no request to
 * another host, no frame, and no HTML from texts.
 */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

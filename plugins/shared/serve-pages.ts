import { SurfaceError } from '../../core/contract/index.js';
import { acceptsGzip } from './accepts-gzip.js';
import type { Bundle, BundledFile } from './bundle.js';
import { createMethodError, createNotFound } from './surface-errors.js';

export interface Pages {
  /** The prefix of the surface: `/docs`. */
  readonly prefix: string;
  /** `null` if the pages are not built. */
  readonly bundle: Bundle | null;
  /** The only path of a page. Default: every path below the prefix is one. */
  readonly onlyPath?: string;
}

interface FoundPage {
  readonly file: BundledFile;
  readonly cacheControl: string;
}

const IMMUTABLE = 'max-age=31536000, immutable';

/**
 * Finds a file below PREFIX/assets, otherwise the page, which is the same for every path. Only the
 * head of the request counts, so that `admit` of a surface can call it.
 * @throws SurfaceError 404, 405, 503.
 */
export function findPage({ prefix, bundle, onlyPath }: Pages, { url, method }: Request): FoundPage {
  const { pathname } = new URL(url);
  const assets = `${prefix}/assets/`;
  const isAsset = pathname.startsWith(assets);
  if (!isAsset && pathname !== (onlyPath ?? pathname)) throw createNotFound(prefix);
  if (method !== 'GET' && method !== 'HEAD') throw createMethodError('GET', 'HEAD');
  if (bundle === null) {
    throw new SurfaceError('unavailable', `the pages of ${prefix} are not built`, {
      nextActions: ['run npm run build'],
    });
  }
  if (!isAsset) return { file: bundle.index, cacheControl: 'no-cache' };
  const file = bundle.assets.get(pathname.slice(assets.length));
  if (file === undefined) throw createNotFound(prefix);
  return { file, cacheControl: IMMUTABLE };
}

/** @throws as `findPage`. */
export function servePages(pages: Pages, request: Request): Response {
  const { file, cacheControl } = findPage(pages, request);
  return createFile(file, cacheControl, request);
}

function createFile(file: BundledFile, cacheControl: string, { headers }: Request): Response {
  const isCompressed = acceptsGzip(headers.get('accept-encoding') ?? '');
  const bytes = isCompressed ? file.gzip() : file.bytes;
  return new Response(bytes, {
    headers: {
      ...PAGE_HEADERS,
      'content-type': file.contentType,
      'content-length': String(bytes.length),
      'cache-control': cacheControl,
      vary: 'accept-encoding',
      ...(isCompressed && { 'content-encoding': 'gzip' }),
    },
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

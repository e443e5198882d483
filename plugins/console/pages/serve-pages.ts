import { SurfaceError } from '../../../core/contract/index.js';
import { PAGE_HEADERS } from '../../shared/page-headers.js';
import { createMethodError, createNotFound } from '../api/json.js';
import type { Bundle, BundledFile } from './bundle.js';

const ASSETS = '/console/assets/';
const IMMUTABLE = 'max-age=31536000, immutable';

/** The page for every path of the console, and the files that it loads. They need no session. */
export function servePages(bundle: Bundle | null, request: Request, path: string): Response {
  const { method } = request;
  if (method !== 'GET' && method !== 'HEAD') throw createMethodError('GET', 'HEAD');
  if (bundle === null) {
    throw new SurfaceError('unavailable', 'the pages of the console are not built', {
      nextActions: ['run npm run build'],
    });
  }
  if (!path.startsWith(ASSETS)) return createFile(bundle.index, 'no-cache', request);
  const asset = bundle.assets.get(path.slice(ASSETS.length));
  if (asset === undefined) throw createNotFound();
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

/** Only what the client names: `*` and weights other than 0 make no difference here. */
function acceptsCoding(accepted: string, coding: string): boolean {
  return accepted.split(',').some((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part));
  });
}

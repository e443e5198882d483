import { decodePath } from '../../lib/routing/request-path.js';
import type { Purge } from './entry-index.js';

const ALL_BELOW = '/*';

/**
 * A raw path as it was called, without its query. Spellings of one path are the same path.
 * @returns `null` for what no route can have been called with
 */
export function parsePurgedPath(text: string): (Pick<Purge, 'isPrefix'> & { path: string }) | null {
  const isPrefix = text.endsWith(ALL_BELOW);
  const raw = isPrefix ? text.slice(0, -ALL_BELOW.length) : text;
  if (isPrefix && raw === '') return { path: '/', isPrefix };
  const path = raw.startsWith('/') ? decodePath(raw) : null;
  if (path === null) return null;
  const decoded = `/${path.segments.join('/')}`;
  return { path: isPrefix ? `${decoded}/` : decoded, isPrefix };
}

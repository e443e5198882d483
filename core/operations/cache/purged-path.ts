import { decodePath } from '../../lib/routing/request-path.js';
import type { Purge } from './entry-index.js';

const ALL_BELOW = '/*';

/**
 * Parses a raw path of a call, without its query. All spellings of a path are equal.
 * @returns `null` for a path that no route can have
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

import type { CacheRules } from '../../manifest/cache-rules.js';
import type { EntryPlace } from './entry-index.js';
import type { ResponseCache } from './response-cache.js';

export interface CacheEntry {
  readonly cache: ResponseCache;
  readonly key: string;
  readonly place: EntryPlace;
  readonly rules: CacheRules;
}

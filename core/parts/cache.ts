import { createCacheMetric } from '../observability/metrics/process-metrics.js';
import { sharePurges } from '../operations/cache/purge-channel.js';
import { RESPONSE_CACHE, ResponseCache } from '../operations/cache/response-cache.js';
import { StorePurges } from '../operations/cache/store-purges.js';
import { CONFIG, definePart, PROCESSES, provide } from './part.js';
import { STORAGE } from './storage.js';

/** The responses that the host keeps. A database server forwards purges to other hosts. */
export const CACHE = definePart(
  'cache',
  [CONFIG, PROCESSES, STORAGE.token],
  ({ cacheBytes, store: url }, processes, { store }) => {
    const purges = sharePurges(processes);
    const cache =
      cacheBytes === 0
        ? null
        : new ResponseCache(cacheBytes, url === null ? purges : new StorePurges(store, purges));
    return { provides: [provide(RESPONSE_CACHE, cache)], metrics: [createCacheMetric(cache)] };
  },
);

import type { StoreParts } from './parts.js';
import type { StoreConnection } from './store-connection.js';

/**
 * A database that may be unavailable, and its parts. While it is unavailable every operation throws
 * StoreUnavailable, and it is reopened in the background. Operations may run concurrently.
 */
export type Store = StoreParts &
  Pick<StoreConnection, 'unavailable' | 'onConfigChange' | 'sendNotice' | 'onNotice' | 'close'>;

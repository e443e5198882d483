import { HostError } from '../errors.js';
import { StoreUnavailable } from '../store/store.js';

/**
 * Translates a store that does not answer into 503; anything else is thrown as it is.
 * @throws HostError 503.
 */
export function assertStoreAvailable(error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new HostError('unavailable', 'the store of the host does not answer', {
    nextActions: ['try again later'],
    cause: error,
  });
}

import { HostError } from '../errors.js';
import { StoreUnavailable } from '../store/store-unavailable.js';

/**
 * Translates an unavailable store into 503; rethrows anything else.
 * @throws HostError 503.
 */
export function rethrowStoreError(error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new HostError('unavailable', 'the store of the host is not available', {
    nextActions: ['try again later'],
    cause: error,
  });
}

import { isProviderFailure, ProviderFailure } from '../contract/index.js';
import { toError } from '../lib/to-error.js';
import type { Bulkhead } from './bulkhead.js';
import type { Deadline } from './deadline.js';
import type { Upload } from './provider-call.js';
import { createOverload } from './rejected-call.js';

/**
 * Counts the body of an actor, and ends its call if the body fails.
 * @returns a function that ends the body with its call
 * @throws RejectedCall if the actor sends too many requests.
 */
export function beginUpload(
  bulkhead: Bulkhead,
  share: string,
  upload: Upload,
  deadline: Deadline,
): () => void {
  if (!bulkhead.beginReceiving(share)) {
    throw createOverload('limits.concurrency', 'the caller sends too many bodies at once');
  }
  let isReceiving = true;
  const endReceiving = () => {
    if (isReceiving) bulkhead.endReceiving(share);
    isReceiving = false;
  };
  upload.watch({
    onStart: () => deadline.suspend(),
    onEnd: () => {
      endReceiving();
      deadline.restart();
    },
    onFailure: (cause) =>
      deadline.abort(isProviderFailure(cause) ? cause : createEndedEarly(cause)),
  });
  const stop = { handleEvent: () => upload.stop(toError(deadline.reason)) };
  deadline.addEventListener('abort', stop);
  return () => {
    endReceiving();
    deadline.removeEventListener('abort', stop);
    upload.stop();
  };
}

/** The caller receives the cause. */
function createEndedEarly(cause: Error): ProviderFailure {
  return new ProviderFailure('cancelled', 'the body of the request ended early', { cause });
}

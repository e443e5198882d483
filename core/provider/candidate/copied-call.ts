import type { HeldMemory } from '../held-memory.js';
import type { ProviderCall, StreamedResponse } from '../provider-call.js';
import { MAX_COMPARED_BYTES } from './compare-answers.js';

/** Marks a copy, whose answer no caller gets. */
export const CANDIDATE_HEADER = 'modgate-candidate';

/** A longer response is not read to its end. */
const RESPONSE: StreamedResponse = {
  maxBytes: Number.MAX_SAFE_INTEGER,
  holdBytes: MAX_COMPARED_BYTES,
};

interface CopyOptions {
  readonly signal: ProviderCall['signal'];
  readonly held: HeldMemory;
  /** Whether the adapter streams, and so can stop reading. */
  readonly streams: boolean;
  readonly isForCandidate: boolean;
}

/**
 * The same call once more: what the caller sees, and what is counted and traced for it, has no part in it.
 * @param live has been answered
 */
export function copyCall(
  { operation, route, context, identity = null, headers, timeoutMs, hashKey = null }: ProviderCall,
  { signal, held, streams, isForCandidate }: CopyOptions,
): ProviderCall {
  const { 'modgate-call-id': id, traceparent = '' } = headers;
  return {
    ...(id !== undefined && { id }),
    operation,
    route,
    context,
    identity,
    headers: {
      ...headers,
      ...(streams && { 'modgate-deadline-ms': String(timeoutMs) }),
      ...(isForCandidate && { [CANDIDATE_HEADER]: '1' }),
    },
    nextTraceparent: () => traceparent,
    timeoutMs,
    signal,
    hashKey,
    held,
    ...(streams && { response: RESPONSE }),
  };
}

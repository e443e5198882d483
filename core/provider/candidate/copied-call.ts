import type { HeldMemory } from '../held-memory.js';
import type { ProviderCall, StreamedResponse } from '../provider-call.js';
import { MAX_COMPARED_BYTES } from './compare-answers.js';

/** Marks a copy, whose response no caller receives. */
export const CANDIDATE_HEADER = 'modgate-candidate';

/** A longer response is not read completely. */
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
 * Copies a call without its effects on the caller, its counts and its traces.
 * @param live the call with its response
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

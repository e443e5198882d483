import type { HeldMemory } from '../held-memory.js';
import type { ProviderCall, StreamedResponse } from '../provider-call.js';
import { MAX_COMPARED_BYTES } from './compare-answers.js';

/** Marks a copy, whose response no caller receives. */
const CANDIDATE_HEADER = 'modgate-candidate';

/** A longer response is not read completely. */
const RESPONSE: StreamedResponse = {
  maxBytes: Number.MAX_SAFE_INTEGER,
  holdBytes: MAX_COMPARED_BYTES,
};

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

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
  live: ProviderCall,
  { signal, held, streams, isForCandidate }: CopyOptions,
): ProviderCall {
  const { operation, route, context, identity = null, headers, timeoutMs, hashKey = null } = live;
  const { 'modgate-call-id': id, traceparent = '' } = headers;
  const copied: Record<string, string> = { ...headers };
  if (streams) copied['modgate-deadline-ms'] = String(timeoutMs);
  if (isForCandidate) copied[CANDIDATE_HEADER] = '1';
  const call: Writable<ProviderCall> = {
    operation,
    route,
    context,
    identity,
    headers: copied,
    nextTraceparent: () => traceparent,
    timeoutMs,
    signal,
    hashKey,
    held,
    mask: (text) => live.mask?.(text) ?? text,
  };
  // Conditional spreads would take 9 µs.
  if (id !== undefined) call.id = id;
  if (streams) call.response = RESPONSE;
  return call;
}

import { createUuidSource } from '../../lib/uuid-v7.js';
import type { CallerHeaders } from './headers.js';

export interface RequestIds {
  readonly requestId: string;
  readonly correlationId: string;
}

// Contract 2: what a caller may choose; anything else is replaced.
const CALLER_ID = /^[A-Za-z0-9._:-]{1,128}$/;

const createRequestId = createUuidSource('req_');
const createCorrelationId = createUuidSource('corr_');

/** The caller's where it is well formed, else a new one. */
export function readRequestId(headers: CallerHeaders): string {
  return readId(headers.get('x-request-id'), createRequestId);
}

export function readCorrelationId(headers: CallerHeaders): string {
  return readId(headers.get('x-correlation-id'), createCorrelationId);
}

export function createIds(): RequestIds {
  return { requestId: createRequestId(), correlationId: createCorrelationId() };
}

function readId(given: string | undefined, create: () => string): string {
  return given !== undefined && CALLER_ID.test(given) ? given : create();
}

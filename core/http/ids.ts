import { uuidV7 } from '../lib/uuid-v7.js';
import type { CallerHeaders } from './caller-headers.js';

export interface RequestIds {
  readonly requestId: string;
  readonly correlationId: string;
}

// Contract 2: what a caller may choose; anything else is replaced.
const CALLER_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's where it is well formed, else a new one. */
export function readRequestId(headers: CallerHeaders): string {
  return readId(headers.get('x-request-id'), 'req_');
}

export function readCorrelationId(headers: CallerHeaders): string {
  return readId(headers.get('x-correlation-id'), 'corr_');
}

export function createIds(): RequestIds {
  return { requestId: createId('req_'), correlationId: createId('corr_') };
}

function readId(given: string | undefined, prefix: string): string {
  return given !== undefined && CALLER_ID.test(given) ? given : createId(prefix);
}

function createId(prefix: string): string {
  return `${prefix}${uuidV7()}`;
}

import { v7 as uuidv7 } from 'uuid';
import type { CallerHeaders } from './caller-headers.js';

export interface RequestIds {
  readonly requestId: string;
  readonly correlationId: string;
}

// Contract 2: what a caller may choose; anything else is replaced.
const CALLER_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's ids where they are well formed, else new ones. */
export function readIds(headers: CallerHeaders): RequestIds {
  return {
    requestId: readId(headers.get('x-request-id'), 'req_'),
    correlationId: readId(headers.get('x-correlation-id'), 'corr_'),
  };
}

export function createIds(): RequestIds {
  return { requestId: createId('req_'), correlationId: createId('corr_') };
}

function readId(given: string | undefined, prefix: string): string {
  return given !== undefined && CALLER_ID.test(given) ? given : createId(prefix);
}

function createId(prefix: string): string {
  return `${prefix}${uuidv7()}`;
}

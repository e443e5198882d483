import { randomUUID } from 'node:crypto';
import type { CallerHeaders } from './caller-headers.js';

export interface RequestIds {
  readonly requestId: string;
  readonly correlationId: string;
}

/** An id that a client may choose. */
const CLIENT_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** @param headers `null` for a request that could not be parsed */
export function createIds(headers: CallerHeaders | null): RequestIds {
  return {
    requestId: chooseId(headers?.get('x-request-id'), 'req'),
    correlationId: chooseId(headers?.get('x-correlation-id'), 'corr'),
  };
}

/** The client's id if it is well-formed, otherwise a new one. */
function chooseId(given: string | undefined, prefix: string): string {
  return given !== undefined && CLIENT_ID.test(given) ? given : `${prefix}_${randomUUID()}`;
}

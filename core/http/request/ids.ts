import { randomUUID } from 'node:crypto';
import type { CallerHeaders } from './caller-headers.js';

export interface RequestIds {
  readonly requestId: string;
  readonly correlationId: string;
}

/** An id that a client may choose. */
const CLIENT_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The client's ids where they are well-formed; new ones share their digits.
 * @param headers `null` for a request that could not be parsed
 */
export function createIds(headers: CallerHeaders | null): RequestIds {
  const uuid = randomUUID();
  const requestId = headers?.get('x-request-id') ?? '';
  const correlationId = headers?.get('x-correlation-id') ?? '';
  return {
    requestId: CLIENT_ID.test(requestId) ? requestId : `req_${uuid}`,
    correlationId: CLIENT_ID.test(correlationId) ? correlationId : `corr_${uuid}`,
  };
}

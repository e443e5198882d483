import type { IncomingMessage } from 'node:http';
import { createUuid } from '../../lib/random-ids.js';
import { CLIENT_ID } from '../../operations/request.js';

/**
 * The headers of a request, by lower-case name. They cannot be iterated, so that handlers can
 * forward only headers that they name.
 */
export class CallerHeaders {
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  get(name: string): string | undefined {
    const value = this.#request.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  /**
   * The number of times that the request has the header: Node keeps only the first value of some
   * names.
   */
  count(name: string): number {
    const { rawHeaders } = this.#request;
    let count = 0;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const raw = rawHeaders[index];
      if (raw?.length === name.length && raw.toLowerCase() === name) count += 1;
    }
    return count;
  }
}

export interface RequestIds {
  readonly requestId: string;
  readonly correlationId: string;
}

/**
 * Uses the client's ids if they are well-formed, otherwise new ones with the same digits.
 * @param headers `null` for a request that could not be parsed
 */
export function createIds(headers: CallerHeaders | null): RequestIds {
  const uuid = createUuid();
  const requestId = headers?.get('x-request-id') ?? '';
  const correlationId = headers?.get('x-correlation-id') ?? '';
  return {
    requestId: CLIENT_ID.test(requestId) ? requestId : `req_${uuid}`,
    correlationId: CLIENT_ID.test(correlationId) ? correlationId : `corr_${uuid}`,
  };
}

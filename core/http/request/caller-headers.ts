import type { IncomingMessage } from 'node:http';

/**
 * The headers of a request, by lower-case name. They cannot be iterated, so that no handler passes on a header
 * that it does not name.
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

  /** How often the request has the header: of some names Node keeps only the first value. */
  count(name: string): number {
    const { rawHeaders } = this.#request;
    let found = 0;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const raw = rawHeaders[index];
      if (raw?.length === name.length && raw.toLowerCase() === name) found += 1;
    }
    return found;
  }
}

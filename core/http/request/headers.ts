import type { IncomingMessage } from 'node:http';
import { HostError } from '../../errors.js';

/**
 * What the operations may know of the caller's headers: looked up by lower-case name, never iterated, so
 * that nothing passes on that was not asked for by name.
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

  /** How often the header stood in the request: Node keeps only the first of some names. */
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

// A host and a port (RFC 9110 7.2): no list, no user, no path.
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%-]+)(?::\d{0,5})?$/;

/**
 * What Node's parser lets through but HTTP does not (RFC 9112 2.3, 3.2, 6.1).
 * @throws HostError 400 for a version other than HTTP/1.0 and 1.1, for chunks in HTTP/1.0, and for a
 * missing, repeated or malformed `host`, 501 for a transfer coding but `chunked`.
 */
export function assertFraming(request: IncomingMessage, headers: CallerHeaders): void {
  const { httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw createHeaderError('version', 'expected HTTP/1.1 or HTTP/1.0');
  }
  const hosts = headers.count('host');
  if (hosts > 1) throw createHeaderError('host', 'repeated');
  const host = headers.get('host');
  if (host === undefined && httpVersion === '1.1') throw createHeaderError('host', 'missing');
  if (host !== undefined && !HOST.test(host))
    throw createHeaderError('host', 'not a host and a port');
  const coding = headers.get('transfer-encoding');
  // HTTP/1.0 knows no chunks: whatever handed this on read the body in another way.
  if (coding !== undefined && httpVersion === '1.0') {
    throw createHeaderError('transfer-encoding', 'expected none in HTTP/1.0');
  }
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    throw new HostError('validation_failed', 'the only transfer coding understood is chunked', {
      status: 501,
      errors: [{ field: 'transfer-encoding', reason: 'not chunked' }],
      headers: { connection: 'close' },
    });
  }
}

/**
 * The size of a head is bounded by the parser, this is the number of its lines.
 * @throws HostError 431.
 */
export function assertHeaderCount({ rawHeaders }: IncomingMessage, maxHeaders: number): void {
  if (rawHeaders.length / 2 <= maxHeaders) return;
  throw new HostError('validation_failed', 'the head of the request has too many headers', {
    status: 431,
    errors: [{ field: 'headers', reason: `more than ${maxHeaders}` }],
    headers: { connection: 'close' },
  });
}

function createHeaderError(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'the head of the request is not valid HTTP', {
    errors: [{ field, reason }],
    headers: { connection: 'close' },
  });
}

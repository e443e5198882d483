import type { IncomingMessage } from 'node:http';
import { HostError } from '../errors.js';

/**
 * What the operations may know of the caller's headers: looked up by lower-case name, never iterated, so
 * that nothing passes on that was not asked for by name.
 */
export interface CallerHeaders {
  get(name: string): string | undefined;
  /** How often the header stood in the request: Node keeps only the first of some names. */
  count(name: string): number;
}

export function readCallerHeaders(request: IncomingMessage): CallerHeaders {
  const { headers, rawHeaders } = request;
  return {
    get: (name) => {
      const value = headers[name];
      return typeof value === 'string' ? value : undefined;
    },
    count: (name) => {
      let found = 0;
      for (let index = 0; index < rawHeaders.length; index += 2) {
        const raw = rawHeaders[index];
        if (raw?.length === name.length && raw.toLowerCase() === name) found += 1;
      }
      return found;
    },
  };
}

// A host and a port (RFC 9110 7.2): no list, no user, no path.
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%-]+)(?::\d{0,5})?$/;

/**
 * What Node's parser lets through but HTTP does not (RFC 9112 2.3, 3.2, 6.1).
 * @throws HostError 400 for HTTP/0.9 and for a missing, repeated or malformed `host`, 501 for a transfer
 * coding but `chunked`.
 */
export function refuseBadFraming(request: IncomingMessage, headers: CallerHeaders): void {
  if (request.httpVersionMajor < 1) throw refuse('version', 'older than HTTP/1.0');
  const hosts = headers.count('host');
  if (hosts > 1) throw refuse('host', 'repeated');
  const host = headers.get('host');
  if (host === undefined && request.httpVersion === '1.1') throw refuse('host', 'missing');
  if (host !== undefined && !HOST.test(host)) throw refuse('host', 'not a host and a port');
  const coding = headers.get('transfer-encoding');
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
export function refuseManyHeaders({ rawHeaders }: IncomingMessage, maxHeaders: number): void {
  if (rawHeaders.length / 2 <= maxHeaders) return;
  throw new HostError('validation_failed', 'the head of the request has too many headers', {
    status: 431,
    errors: [{ field: 'headers', reason: `more than ${maxHeaders}` }],
    headers: { connection: 'close' },
  });
}

function refuse(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'the head of the request is not valid HTTP', {
    errors: [{ field, reason }],
    headers: { connection: 'close' },
  });
}

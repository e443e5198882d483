import type { IncomingMessage } from 'node:http';
import { isLoopbackAddress } from '../../contract/loopback.js';
import { HostError } from '../../errors.js';
import { isLoopbackHostHeader } from '../../lib/loopback.js';
import type { MountSource } from '../../modules/mount-table.js';
import { assertCredentialProtocols } from '../server/handshake.js';
import type { CallerHeaders } from './caller-headers.js';

export interface HeadLimits {
  readonly maxHeaders: number;
  /**
   * Rejects other host names: with development tokens, a page that rebinds its name must not be
   * served.
   */
  readonly loopbackOnly: boolean;
  readonly mounts: MountSource;
}

interface ReceivedRequest {
  readonly req: IncomingMessage;
  readonly headers: CallerHeaders;
}

// A host and a port (RFC 9110 7.2), without lists, users and paths.
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%-]+)(?::\d{0,5})?$/;

/** @throws HostError 400, 403, 417, 431 or 501 for a head that must not be handled. */
export function assertHead({ req, headers }: ReceivedRequest, limits: HeadLimits): void {
  assertFraming(req, headers);
  assertHeaderCount(req, limits.maxHeaders);
  if (limits.loopbackOnly) assertLoopbackHost(req, headers, limits.mounts);
  assertExpectation(headers);
  if (headers.get('upgrade') !== undefined) assertCredentialProtocols(req);
}

/**
 * Rejects the absolute form, whose authority would override the validated host header (RFC 9112
 * 3.2.2).
 */
export function assertOriginForm(target: string): void {
  if (target.startsWith('/')) return;
  throw new HostError('not_found', 'the host has no such path', {
    nextActions: ['send the path alone as the target of the request'],
  });
}

/** Rejects requests that Node's parser accepts but HTTP does not allow (RFC 9112 2.3, 3.2, 6.1). */
function assertFraming({ httpVersion }: IncomingMessage, headers: CallerHeaders): void {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw createHeadError('version', 'expected HTTP/1.1 or HTTP/1.0');
  }
  if (headers.count('host') > 1) throw createHeadError('host', 'repeated');
  const host = headers.get('host');
  if (host === undefined && httpVersion === '1.1') throw createHeadError('host', 'missing');
  if (host !== undefined && !HOST.test(host))
    throw createHeadError('host', 'not a host and a port');
  const coding = headers.get('transfer-encoding');
  if (coding === undefined) return;
  // HTTP/1.0 has no chunks: a proxy that forwarded this has parsed the body differently.
  if (httpVersion === '1.0') {
    throw createHeadError('transfer-encoding', 'expected none in HTTP/1.0');
  }
  if (coding.trim().toLowerCase() !== 'chunked') {
    throw new HostError('validation_failed', 'the only transfer coding understood is chunked', {
      status: 501,
      errors: [{ field: 'transfer-encoding', reason: 'not chunked' }],
      headers: { connection: 'close' },
    });
  }
}

/** Limits the number of header lines; the parser only limits the size of a head. */
function assertHeaderCount({ rawHeaders }: IncomingMessage, maxHeaders: number): void {
  if (rawHeaders.length / 2 <= maxHeaders) return;
  throw new HostError('validation_failed', 'the head of the request has too many headers', {
    status: 431,
    errors: [{ field: 'headers', reason: `more than ${maxHeaders}` }],
    headers: { connection: 'close' },
  });
}

/** Also accepts the configured name of a mount, which no page can rebind. */
function assertLoopbackHost(
  { socket }: IncomingMessage,
  headers: CallerHeaders,
  { mounts }: MountSource,
): void {
  const host = headers.get('host');
  if (isLoopbackHostHeader(host)) return;
  if (mounts.hasHost(host) && isLoopbackAddress(socket.remoteAddress ?? '')) return;
  throw new HostError('forbidden', 'with development tokens on, only loopback hosts are served', {
    errors: [{ field: 'host', reason: 'not a loopback name' }],
    nextActions: ['call the host as localhost', 'allow it with --allow-dev-auth-anywhere'],
  });
}

function assertExpectation(headers: CallerHeaders): void {
  const expect = headers.get('expect');
  if (expect === undefined || expect.toLowerCase() === '100-continue') return;
  throw new HostError('validation_failed', 'the only expectation understood is 100-continue', {
    status: 417,
    errors: [{ field: 'expect', reason: 'not 100-continue' }],
    headers: { connection: 'close' },
  });
}

function createHeadError(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'the head of the request is not valid HTTP', {
    errors: [{ field, reason }],
    headers: { connection: 'close' },
  });
}

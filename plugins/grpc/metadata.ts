import type { IncomingHttpHeaders } from 'node:http2';
import { createInvalidRequest } from '../shared/transport.js';

/** Headers of HTTP that gRPC expresses otherwise. */
const LEFT_OUT =
  /^(?:accept|accept-encoding|connection|content-.*|grpc-.*|host|keep-alive|modgate-deadline-ms|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent)$/;

/** Headers of a response that describe the transfer, or belong to the protocol. */
const NOT_RETURNED =
  /^(?::.*|connection|content-.*|date|grpc-.*|keep-alive|retry-after|te|trailer|transfer-encoding|upgrade)$/;

/** What metadata may contain besides binary values, which are base64. */
const VALUE = /^[\x20-\x7e]*$/;
/** A deadline of more digits is given in seconds. */
const MAX_DIGITS = 8;

/**
 * The metadata of a call: the headers for the provider, and the time that is left.
 * @throws ProviderFailure for a header that metadata cannot contain.
 */
export function readMetadata(headers: Readonly<Record<string, string>>): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (LEFT_OUT.test(name)) continue;
    if (!VALUE.test(value)) {
      throw createInvalidRequest(`header.${name}`, 'must be printable ASCII');
    }
    metadata[name] = value;
  }
  const deadline = headers['modgate-deadline-ms'];
  if (deadline !== undefined) metadata['grpc-timeout'] = formatTimeout(Number(deadline));
  return metadata;
}

function formatTimeout(ms: number): string {
  const text = String(Math.max(1, Math.floor(ms)));
  return text.length <= MAX_DIGITS ? `${text}m` : `${Math.floor(ms / 1000)}S`;
}

export function addResponseHeaders(
  headers: Record<string, string>,
  metadata: IncomingHttpHeaders,
): void {
  for (const name in metadata) {
    const value = metadata[name];
    if (value === undefined || NOT_RETURNED.test(name)) continue;
    headers[name] = [value].flat().join(', ');
  }
}

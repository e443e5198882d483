import type { IncomingMessage } from 'node:http';
import { HostError } from '../../errors.js';
import { announcesBody, createLengthError } from '../request/body.js';

const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);
/** The only credentials that are visible to a surface with its own sign-in. */
const OWN_CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/** @throws HostError 405 for a method that a web-standard request cannot have. */
export function assertSurfaceMethod(method: string): void {
  if (METHODS.has(method)) return;
  const allowed = [...METHODS].join(', ');
  throw new HostError('method_not_allowed', 'the path does not support this method', {
    headers: { allow: allowed },
    nextActions: [`use one of ${allowed}`],
  });
}

interface WebRequestParts {
  readonly url: URL;
  /** Empty for a request without one. */
  readonly body: Buffer;
  readonly signal: AbortSignal;
  /** The credential headers of the host, in lower case. */
  readonly credentialHeaders: readonly string[];
  readonly hasOwnSignIn: boolean;
}

/**
 * Decides by the head alone whether the body of a request is read.
 * @param limit the maximum body of the surface. Bytes.
 * @throws HostError 400 for a GET or HEAD with a body, 413 for a body that no surface reads.
 */
export function assertBodyHead(req: IncomingMessage, limit: number): void {
  if (!announcesBody(req)) return;
  const { method = 'GET' } = req;
  if (method === 'GET' || method === 'HEAD') {
    throw new HostError('validation_failed', `a ${method} request has no body`, {
      errors: [{ field: 'body', reason: 'not expected' }],
    });
  }
  // Where no body is expected, its first byte is not awaited.
  if (limit === 0) throw createLengthError(limit, undefined, 413);
}

export function createWebRequest(
  req: IncomingMessage,
  { url, body, signal, credentialHeaders, hasOwnSignIn }: WebRequestParts,
): Request {
  const { method = 'GET' } = req;
  const headers = readHeaders(req, hiddenHeaders(credentialHeaders, hasOwnSignIn));
  return new Request(url, {
    method,
    headers,
    signal,
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
}

/** Hides credentials of callers that the host authenticates: a surface does not need them. */
function hiddenHeaders(credentialHeaders: readonly string[], hasOwnSignIn: boolean) {
  const names = [...credentialHeaders, ...OWN_CREDENTIALS];
  return new Set(hasOwnSignIn ? names.filter((name) => !OWN_CREDENTIALS.has(name)) : names);
}

function readHeaders({ rawHeaders }: IncomingMessage, hidden: ReadonlySet<string>): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (hidden.has(name.toLowerCase())) continue;
    headers.append(name, rawHeaders[index + 1] ?? '');
  }
  return headers;
}

import type { IncomingMessage } from 'node:http';
import { HostError } from '../../errors.js';

const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);
/** The only credentials that a surface with its own sign-in reads. */
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
  /** Empty: the request has none. */
  readonly body: Buffer;
  readonly signal: AbortSignal;
  /** The credential headers of the host, in lower case. */
  readonly credentialHeaders: readonly string[];
  readonly hasOwnSignIn: boolean;
}

/** The request as surfaces see it. @throws HostError 400 for a GET or HEAD with a body. */
export function createWebRequest(
  req: IncomingMessage,
  { url, body, signal, credentialHeaders, hasOwnSignIn }: WebRequestParts,
): Request {
  const { method = 'GET' } = req;
  if (body.length > 0 && (method === 'GET' || method === 'HEAD')) {
    throw new HostError('validation_failed', `a ${method} request has no body`, {
      errors: [{ field: 'body', reason: 'not expected' }],
    });
  }
  const headers = readHeaders(req, hiddenHeaders(credentialHeaders, hasOwnSignIn));
  return new Request(url, {
    method,
    headers,
    signal,
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
}

/** A surface has no need for the credentials of callers whom the host authenticates. */
function hiddenHeaders(credentialHeaders: readonly string[], hasOwnSignIn: boolean) {
  const names = [...credentialHeaders, ...OWN_CREDENTIALS];
  return new Set(hasOwnSignIn ? names.filter((name) => !OWN_CREDENTIALS.has(name)) : names);
}

function readHeaders({ rawHeaders }: IncomingMessage, hidden: ReadonlySet<string>): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (hidden.has(name.toLowerCase())) continue;
    headers.append(name, rawHeaders[at + 1] ?? '');
  }
  return headers;
}

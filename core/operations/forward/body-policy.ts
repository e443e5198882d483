import type { BodyRule, Method } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { isJsonMediaType } from '../../lib/json-bytes.js';
import { findInvalidJson } from '../../lib/json-check.js';
import type { CallerRequest } from '../request.js';

/**
 * Reads the body, checks it, and returns its bytes unchanged; `null` for a call without one. The body is parsed
 * to check it, never to rewrite it. That of a GET is ignored.
 * @throws HostError 400 that names the invalid part.
 */
export async function readCheckedBody(
  { method, body: rule }: { readonly method: Method; readonly body: BodyRule },
  request: CallerRequest,
  maxBytes: number,
): Promise<Buffer | null> {
  if (method === 'GET') return null;
  if (rule === 'none') return assertNoBody(method, request);
  if (rule === 'optional' && !announcesBody(request.headers)) return null;
  assertBodyHeaders(request.headers);
  const body = await request.readBody(maxBytes);
  assertJson(body);
  return body;
}

/**
 * Checks the headers of a JSON body before it is read.
 * @throws HostError 400.
 */
export function assertBodyHeaders(headers: CallerRequest['headers']): void {
  assertNotEncoded(headers);
  assertJsonType(headers);
}

/** A length of 0 with a type announces an empty JSON body, which the policy rejects. */
function announcesBody(headers: CallerRequest['headers']): boolean {
  if (headers.get('transfer-encoding') !== undefined) return true;
  const length = headers.get('content-length');
  if (length === undefined) return false;
  return Number(length) !== 0 || headers.get('content-type') !== undefined;
}

async function assertNoBody(method: Method, request: CallerRequest): Promise<null> {
  const reason = method === 'DELETE' ? 'DELETE takes no body' : 'the route takes no body';
  const body = await request.readBody(0).catch((error: unknown) => {
    if (error instanceof HostError) throw createBodyError('body', reason);
    throw error;
  });
  if (body.length > 0) throw createBodyError('body', reason);
  return null;
}

function assertNotEncoded(headers: CallerRequest['headers']): void {
  const encoding = headers.get('content-encoding');
  if (encoding === undefined) return;
  if (headers.count('content-encoding') > 1) throw createBodyError('content-encoding', 'repeated');
  if (encoding.toLowerCase() !== 'identity') {
    throw createBodyError('content-encoding', 'expected none, or identity');
  }
}

function assertJsonType(headers: CallerRequest['headers']): void {
  const contentType = headers.get('content-type');
  if (contentType === undefined) throw createBodyError('content-type', 'missing');
  if (headers.count('content-type') > 1) throw createBodyError('content-type', 'repeated');
  if (!isJsonMediaType(contentType)) {
    throw createBodyError('content-type', 'expected application/json or application/*+json');
  }
}

/** @throws HostError 400 for a body that is empty, not UTF-8 or not JSON. */
export function assertJson(body: Buffer): void {
  if (body.length === 0) throw createBodyError('body', 'empty; expected a JSON value');
  const invalid = findInvalidJson([body], body.length);
  if (invalid !== null) throw createBodyError('body', invalid.reason);
}

function createBodyError(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'the body policy rejects the request', {
    errors: [{ field, reason }],
    nextActions: BODY_ADVICE,
  });
}

const BODY_ADVICE = ['send a JSON value in UTF-8 with content-type application/json'];

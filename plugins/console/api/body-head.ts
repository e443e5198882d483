import { SurfaceError } from '../../../core/contract/index.js';

const JSON_TYPE = /^application\/json(?:\s*;\s*charset=utf-8)?$/i;

/**
 * Rejects a body that a form of another site could send, by the head of its request.
 * @throws SurfaceError 403.
 */
export function assertJsonBody({ headers }: Request): void {
  if (!announcesBody(headers) || JSON_TYPE.test(headers.get('content-type') ?? '')) return;
  throw new SurfaceError('forbidden', 'the body of a request of the console is JSON', {
    errors: [{ field: 'content-type', reason: 'not application/json' }],
    nextActions: ['send content-type: application/json'],
  });
}

/** @throws SurfaceError 400 for a request that announces a body. */
export function assertNoBody({ headers }: Request): void {
  if (!announcesBody(headers)) return;
  throw new SurfaceError('validation_failed', 'the path accepts no body', {
    errors: [{ field: 'body', reason: 'not expected' }],
  });
}

function announcesBody(headers: Headers): boolean {
  const isChunked = headers.get('transfer-encoding') !== null;
  return isChunked || Number(headers.get('content-length') ?? 0) > 0;
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { HostError } from '../../errors.js';
import { ClientClosed } from '../../operations/request.js';

const EMPTY = Buffer.alloc(0);

/**
 * Reads the whole body, at most `limit` bytes. A caller that waits for `100 Continue` gets it here, once
 * it is known that the body is wanted.
 * @throws HostError 400 when the body is longer, as soon as that is known.
 * @throws CallerGone when the connection ends before the body does.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (announced > limit) return Promise.reject(tooLarge(limit));
  if (announced === 0 || !hasBody(request)) return Promise.resolve(EMPTY);
  if (request.headers.expect !== undefined) response.writeContinue();
  return collect(request, limit);
}

/** A request without either header has no body (RFC 9112 6.3). */
export function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['content-length'] !== undefined ||
    request.headers['transfer-encoding'] !== undefined
  );
}

function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = () => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      stop();
      reject(tooLarge(limit));
    };
    const onEnd = () => {
      stop();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
    };
    const onClose = () => {
      stop();
      reject(new ClientClosed());
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function tooLarge(limit: number): HostError {
  return new HostError('validation_failed', `the body is longer than ${limit} bytes`, {
    errors: [{ field: 'body', reason: `longer than ${limit} bytes` }],
    nextActions: [`send at most ${limit} bytes`],
  });
}

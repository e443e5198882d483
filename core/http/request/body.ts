import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyPieces } from '../../contract/body-pieces.js';
import type { Cancellation } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { MAX_DISCARD_MS, MAX_DISCARDED_BYTES } from '../../lib/linger.js';
import { forEachInSlices } from '../../lib/slices.js';
import { ClientClosed } from '../../operations/request.js';
import type { HeldMemory } from '../../provider/held-memory.js';
import { sendContinue } from './send-continue.js';

interface BodyLimits {
  /** Counts the body during reading. */
  readonly held: HeldMemory;
  /** Bytes. */
  readonly limit: number;
  /** How long the host waits for the next part of the body. Milliseconds. */
  readonly timeoutMs: number;
  /** The status for a longer body. Default 400. */
  readonly tooLargeStatus?: number | undefined;
  /** Aborted when the rest of the body cannot arrive. */
  readonly signal: Cancellation;
}

export interface StartLimits extends BodyLimits {
  /** A longer body is left to be streamed. Default: `limit`. Bytes. */
  readonly holdBytes?: number;
}

/** A longer body is copied in slices. Bytes. */
const MAX_JOINED_BYTES = 1_048_576;
const EMPTY = Buffer.alloc(0);

/**
 * Reads the whole body, and returns a promise only for one that has not arrived. A client that
 * waits for `100 Continue` gets it here.
 * @throws HostError 400 as soon as the body is known to be longer than `limit`; 408 when it stalls.
 * @throws RejectedCall when the body exceeds a memory budget.
 * @throws ClientClosed when the connection ends before the body does.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits,
): Buffer | Promise<Buffer> {
  const arrived = takeArrived(request, limits);
  if (arrived !== null) return arrived;
  return readStart(request, response, limits).then(({ pieces }) => joinPieces(pieces));
}

/**
 * Takes a body that has arrived: most short ones come with their head, and need neither listeners
 * nor a timer. Returns `null` for one that must be read, or rejected, by `readStart`.
 * @throws RejectedCall when the body exceeds a memory budget.
 */
export function takeArrived(
  request: IncomingMessage,
  { limit, holdBytes = limit, held, signal }: StartLimits,
): Buffer | null {
  if (!announcesBody(request)) return EMPTY;
  const { complete, destroyed, readableLength: length } = request;
  if (!complete || destroyed || signal.aborted || request.headers.expect !== undefined) return null;
  if (length > Math.min(limit, holdBytes, MAX_JOINED_BYTES)) return null;
  const rejection = held.reserve(length);
  if (rejection !== null) throw rejection;
  return request.read() ?? EMPTY;
}

/** The whole body; a long one is copied without blocking the event loop. */
export async function joinPieces(pieces: BodyPieces): Promise<Buffer> {
  const { list, length } = pieces;
  if (length === 0) return EMPTY;
  if (length <= MAX_JOINED_BYTES || list.length === 1) return pieces.join();
  const whole = Buffer.allocUnsafeSlow(length);
  let offset = 0;
  await forEachInSlices(list, (piece) => {
    whole.set(piece, offset);
    offset += piece.length;
  });
  return whole;
}

/** The result of reading a body. */
interface ReadBody {
  readonly pieces: BodyPieces;
  /** Whether the body is complete; otherwise the request is paused. */
  readonly isWhole: boolean;
}

/**
 * Reads a body until more than `holdBytes` have arrived.
 * @throws as `readBody`.
 */
export async function readStart(
  request: IncomingMessage,
  response: ServerResponse,
  limits: StartLimits,
): Promise<ReadBody> {
  const { limit, timeoutMs, tooLargeStatus, signal } = limits;
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  const createError = () => createLengthError(limit, undefined, tooLargeStatus);
  if (announced > limit) throw createError();
  if (!announcesBody(request)) return { pieces: new BodyPieces(), isWhole: true };
  if (signal.aborted) throw new ClientClosed();
  sendContinue(request, response);
  return withStallTimeout(request, timeoutMs, collect(request, limits, createError));
}

/**
 * Whether the head announces a body, which may be empty if it is chunked. A request without either
 * header has none (RFC 9112 6.3).
 */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function collect(
  request: IncomingMessage,
  { limit, held, signal, holdBytes = limit }: StartLimits,
  createError: () => HostError,
): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    let pieces = new BodyPieces();
    const stop = () => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      signal.removeEventListener('abort', onAbort);
    };
    const onData = (chunk: Buffer) => {
      pieces.add(chunk);
      const rejection = pieces.length > limit ? createError() : held.reserve(chunk.length);
      if (rejection === null) {
        if (pieces.length <= holdBytes) return;
        stop();
        request.pause();
        resolve({ pieces, isWhole: false });
        return;
      }
      stop();
      // Drops the pieces, because the error lives as long as the request and its stack refers to
      // this function.
      pieces = new BodyPieces();
      reject(rejection);
    };
    const onEnd = () => {
      stop();
      resolve({ pieces, isWhole: true });
    };
    const onClose = () => {
      stop();
      reject(new ClientClosed());
    };
    const onAbort = { handleEvent: onClose };
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    signal.addEventListener('abort', onAbort);
  });
}

/**
 * Limits how long a body may stall while it is read; the server limits the time of the whole request.
 * @throws HostError 408 when no part of the body has arrived for `timeoutMs`.
 */
export async function withStallTimeout<T>(
  request: IncomingMessage,
  timeoutMs: number,
  reading: Promise<T>,
): Promise<T> {
  let hasProgress = false;
  // Counts body bytes only: a client can send the framing of a chunk without end.
  const onData = () => {
    hasProgress = true;
  };
  request.on('data', onData);
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (!hasProgress && !request.complete) reject(createStallError(timeoutMs));
      hasProgress = false;
    }, timeoutMs);
  });
  try {
    return await Promise.race([reading, stalled]);
  } finally {
    clearInterval(timer);
    request.off('data', onData);
  }
}

/**
 * Discards the rest of a body after its response, up to a limit, so that the connection can be used
 * again.
 */
export function discardBody(request: IncomingMessage): void {
  if (request.complete) return;
  let size = 0;
  const cut = () => request.destroy();
  const timer = setTimeout(cut, MAX_DISCARD_MS);
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_DISCARDED_BYTES) cut();
  });
  request.once('close', () => clearTimeout(timer));
  request.resume();
}

export function createLengthError(limit: number, cause?: unknown, status = 400): HostError {
  return new HostError('validation_failed', `the body is longer than ${limit} bytes`, {
    status,
    errors: [{ field: 'body', reason: `longer than ${limit} bytes` }],
    nextActions: [`send at most ${limit} bytes`],
    reason: 'size',
    cause,
  });
}

function createStallError(timeoutMs: number): HostError {
  return new HostError('validation_failed', 'the body did not arrive in time', {
    status: 408,
    errors: [{ field: 'body', reason: `no part of it arrived for ${timeoutMs} ms` }],
    headers: { connection: 'close' },
  });
}

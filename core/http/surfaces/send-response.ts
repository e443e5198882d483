import type { ServerResponse } from 'node:http';
import { UNBUFFERED } from '../../lib/header-names.js';
import { withTimeout } from '../../lib/promises.js';
import type { HeldMemory } from '../../provider/held-memory.js';
import { UnreadBytes } from '../../provider/unread-bytes.js';
import type { RequestIds } from '../request/caller-headers.js';
import { isOwnHeader } from './own-headers.js';

/** A surface that sends nothing for this long is considered stopped. Milliseconds. */
const IDLE_TIMEOUT_MS = 30_000;

/** Validates a length, because Node sends any text. */
const LENGTH = /^[0-9]{1,15}$/;

/**
 * Whether the response can be sent with its announced length. With too few bytes, a client would
 * read the next response of the connection as the body.
 */
export function canAnnounceLength({ headers, status, body }: Response, method: string): boolean {
  const length = headers.get('content-length');
  // A 204 has no length (RFC 9110, 8.6).
  if (length === null || !LENGTH.test(length) || status === 204) return false;
  return body !== null || method === 'HEAD' || status === 304 || Number(length) === 0;
}

interface HeadOptions {
  readonly ids: RequestIds;
  /** Whether the response keeps its `content-length`. */
  readonly hasLength: boolean;
  readonly isEvents: boolean;
  /** Whether the connection is closed after the response. */
  readonly isLast: boolean;
}

/** The headers of a response: names and values in turn. */
export function listSurfaceHeaders(
  response: Response,
  { ids: { requestId, correlationId }, hasLength, isEvents, isLast }: HeadOptions,
): string[] {
  const head = ['x-request-id', requestId, 'x-correlation-id', correlationId];
  for (const [name, value] of response.headers) {
    if (isOwnHeader(name) || (name === 'content-length' && !hasLength)) continue;
    head.push(name, value);
  }
  if (!response.headers.has('x-content-type-options')) {
    head.push('x-content-type-options', 'nosniff');
  }
  if (!response.headers.has('cache-control')) head.push('cache-control', 'no-store');
  if (isEvents && !response.headers.has(UNBUFFERED[0])) head.push(...UNBUFFERED);
  if (isLast) head.push('connection', 'close');
  return head;
}

export interface BodyOptions {
  /** The connection is closed if the client reads nothing for this long. Milliseconds. */
  readonly sendTimeoutMs: number;
  /** Runs code of the body. */
  readonly run?: <T>(work: () => T) => T;
  /** Counts the bytes that the client has not read. */
  readonly held: Pick<HeldMemory, 'keepOnly'>;
  /** Longest pause of the body. Milliseconds, default 30,000. */
  readonly idleTimeoutMs?: number;
  /** Called with the bytes of the body before the response ends. */
  readonly onEnd: (bytes: number) => void;
  /** Called with an error of the body, when it stalls, and when it exceeds a memory budget. */
  readonly onError: (error: unknown) => void;
}

/** A body during sending. */
export interface SentBody {
  /** Ends the response after the bytes sent so far. */
  end(): void;
  /** Closes the connection, so that the client treats the response as incomplete. */
  cut(error: unknown): void;
}

/** Sends a body chunk by chunk, at the speed of the client. Never rejects. */
export function sendBody(
  res: ServerResponse,
  body: ReadableStream<Uint8Array>,
  options: BodyOptions,
): SentBody {
  const { sendTimeoutMs, idleTimeoutMs = IDLE_TIMEOUT_MS, held, onEnd, onError } = options;
  const { run = (work) => work() } = options;
  const reader = body.getReader();
  let bytes = 0;
  let isEnded = false;
  const stop = () => {
    isEnded = true;
    // Errors at the end of its stream are internal to the surface.
    void run(() => reader.cancel()).catch(() => {});
  };
  const end = () => {
    if (isEnded) return;
    stop();
    onEnd(bytes);
    endOrCut(res);
  };
  const cut = (error: unknown) => {
    if (!isEnded) onError(error);
    stop();
    // Without a proper end, the client treats the response as incomplete.
    res.destroy();
  };
  const countHeld = () => 0;
  const unread = new UnreadBytes({ targets: [res], held, countHeld, onRejected: cut });
  res.once('close', () => {
    if (!isEnded) stop();
  });
  const pump = async () => {
    while (!isEnded) {
      const { done, value } = await withTimeout(
        run(() => reader.read()),
        idleTimeoutMs,
        () => new Error(`the body paused for ${idleTimeoutMs} ms`),
      );
      if (isEnded) return;
      if (done) {
        onEnd(bytes);
        res.end(); // throws if another length was announced
        isEnded = true;
        return;
      }
      bytes += value.byteLength;
      const isRead = res.write(value, unread.onTaken);
      unread.check();
      if (!isRead) await untilRead(res, sendTimeoutMs);
    }
  };
  pump().catch(cut);
  return { end, cut };
}

/** Destroys the response if its announced length was not sent. */
function endOrCut(res: ServerResponse): void {
  try {
    res.end();
  } catch {
    res.destroy();
  }
}

/** Resolves when the client has read everything, or has closed the connection. */
function untilRead(res: ServerResponse, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => res.destroy(), timeoutMs);
    const done = () => {
      clearTimeout(timer);
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
  });
}
